import Base
import Configuration
import JSON
import Regions
import Testing

@testable import Gateway
@testable import OwnTracks

/// The trial of the settings of a `setConfiguration`.
@Suite struct SettingsTrialTests {
    private var harness: GatewayHarness

    init() throws {
        harness = try GatewayHarness("cmd: true, remoteConfiguration: true, remoteConfigurationTrial: 60")
        _ = harness.drainMessages()
    }

    private var commands: (done: UInt64, refused: UInt64) {
        (harness.gateway.counters.commands.done, harness.gateway.counters.commands.refused)
    }

    /// The command arrives, and the service finds its settings valid: they have this port.
    private mutating func tryPort(_ port: Int, waypoints: [WaypointsReading] = []) throws {
        harness.command(
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration","port":\#(port)}}"#)
        let configuration = try GatewayHarness.configuration(
            "cmd: true, remoteConfiguration: true, remoteConfigurationTrial: 60, port: \(port)")
        harness.handle(
            .settings(
                .valid(
                    SettingsCandidate(
                        configuration: configuration,
                        changes: ["_type": "configuration", "port": .integer(Int64(port))], waypoints: waypoints,
                        topic: harness.gateway.trackers[0].topics.base))))
    }

    /// Does what the core asks for, and tells it whether the broker is connected with that.
    private mutating func putInForce(isReachable: Bool) throws {
        let asked = try #require(harness.effects.compactMap(\.putInForce).last)
        harness.handle(.configuration(asked.configuration, modes: asked.modes))
        harness.handle(.settings(.inForce(isReachable: isReachable)))
    }

    /// The port of the settings that the core asked for last.
    private var port: Int? { harness.effects.compactMap(\.putInForce).last.map { Int($0.configuration.broker.port) } }

    private var isStored: Bool { harness.storedValues[Gateway.remoteSettingsKey] != nil }

    @Test mutating func `Settings are checked first, and then put in force without being stored`() throws {
        harness.command(
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration","port":1884}}"#)
        #expect(harness.effects.contains { if case .checkSettings = $0 { true } else { false } })
        #expect(port == nil)
        harness.handle(.settings(.invalid(reasons: ["no"], topic: "owntracks/jane/hall")))
        try tryPort(1884)
        #expect(port == 1884 && !isStored && commands.done == 0)
    }

    @Test mutating func `Settings that are not valid are refused`() {
        harness.handle(.settings(.invalid(reasons: ["port: 'x' does not fit"], topic: "owntracks/jane/hall")))
        #expect(port == nil && commands == (0, 1) && harness.gateway.counters.commands[.configuration] == 1)
        #expect(harness.gateway.refusals.refusals.first?.text == "setConfiguration: port: 'x' does not fit")
    }

    /// Two trackers, of which the second one gets the commands.
    private static func withKeys() throws -> GatewayHarness {
        var harness = try GatewayHarness("remoteConfiguration: true, trackers: [{deviceId: \"keys\", tid: \"K1\"}]")
        _ = harness.drainMessages()
        return harness
    }

    @Test func `A refusal names the topic that the command came on, and has a line for each mistake`() throws {
        var harness = try Self.withKeys()
        let reasons = (1...12).map { "member \($0): no" }
        harness.handle(.settings(.invalid(reasons: reasons, topic: "owntracks/jane/keys")))
        let refused = "command on owntracks/jane/keys/cmd refused: setConfiguration: "
        let lines = harness.log.filter { $0.hasPrefix(refused) }
        #expect(lines.count == 10 && lines.first?.hasSuffix(": member 1: no") == true, "\(harness.log)")
        #expect(lines.last?.hasSuffix(": and 3 more") == true)
        let refusals = harness.gateway.refusals.refusals
        #expect(refusals.map(\.topic) == ["owntracks/jane/keys/cmd"] && refusals.map(\.count) == [1])
        #expect(harness.gateway.counters.commands[.configuration] == 1)
    }

    @Test func `So does one after a trial, with the topic that the tracker had before it`() throws {
        var harness = try Self.withKeys()
        let renamed = try GatewayHarness.configuration(
            "remoteConfiguration: true, port: 1884, trackers: [{deviceId: \"bag\", tid: \"K1\"}]")
        harness.handle(
            .settings(
                .valid(
                    SettingsCandidate(
                        configuration: renamed, changes: ["_type": "configuration"], waypoints: [],
                        topic: "owntracks/jane/keys"))))
        harness.handle(.configuration(renamed, modes: [:]))
        harness.wait(61)
        let reason = "setConfiguration: no broker within 60 s"
        let line = "command on owntracks/jane/keys/cmd refused: \(reason); back to the old settings"
        #expect(harness.log.contains(line), "\(harness.log)")
        #expect(harness.gateway.refusals.refusals.map(\.topic) == ["owntracks/jane/keys/cmd"])
        #expect(harness.gateway.refusals.refusals.map(\.text) == [reason])
    }

    @Test mutating func `They stay once the broker has accepted a connection with them`() throws {
        try tryPort(1884)
        try putInForce(isReachable: false)
        #expect(!isStored)
        harness.handle(.brokerConnected(isNew: false))
        #expect(isStored && commands == (1, 0) && harness.gateway.remoteSettings?["port"] == 1884)
        #expect(harness.effects.contains { if case .settingsKept = $0 { true } else { false } })
        harness.wait(61)
        #expect(port == 1884)
    }

    @Test mutating func `They stay at once where they need no new connection`() throws {
        try tryPort(1883)
        try putInForce(isReachable: true)
        #expect(isStored && commands == (1, 0))
    }

    @Test mutating func `Without a connection in time the settings so far return`() throws {
        try tryPort(1884)
        try putInForce(isReachable: false)
        harness.wait(59)
        #expect(port == 1884)
        harness.wait(2)
        #expect(port == 1883 && !isStored && commands == (0, 1))
        #expect(harness.log.contains { $0.hasSuffix("no broker within 60 s; back to the old settings") })
        try putInForce(isReachable: true)
        harness.handle(.brokerConnected(isNew: false))
        #expect(!isStored && commands == (0, 1))
    }

    @Test mutating func `The file that is read again ends the trial`() throws {
        try tryPort(1884)
        try putInForce(isReachable: false)
        harness.handle(.settings(.fileChanges))
        #expect(port == 1883 && commands == (0, 1))
        harness.handle(.settings(.fileChanges))
        #expect(commands == (0, 1))
    }

    @Test mutating func `While settings are tried no others are checked`() throws {
        try tryPort(1884)
        let checks = harness.effects.count { if case .checkSettings = $0 { true } else { false } }
        harness.command(
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration","port":1885}}"#)
        #expect(harness.effects.count { if case .checkSettings = $0 { true } else { false } } == checks)
        #expect(commands == (0, 1) && harness.log.contains { $0.contains("other settings are still on trial") })
    }

    @Test func `Settings from afar bring back no region of the file that was removed, and a reload does`() throws {
        func settings(_ waypoints: [String], _ more: String) throws -> Configuration {
            try GatewayHarness.configuration("\(more), waypoints: [\(waypoints.joined(separator: ","))]")
        }
        let (hall, attic) = (
            GatewayHarness.waypoint("Hall", rid: "h"), GatewayHarness.waypoint("Attic", rid: "a", suffix: ":2")
        )
        let removal = #"{"_type":"waypoint","tst":1,"rid":"h","desc":"x","lat":100,"lon":500}"#
        var harness = try GatewayHarness("tag: \"a\", waypoints: [\(hall)]")
        func rids(_ harness: GatewayHarness) -> [String] { harness.gateway.trackers[0].regions.regions.map(\.rid) }
        harness.setWaypoints(removal)
        harness.handle(.configuration(try settings([hall], "tag: \"b\""), modes: [:]))
        #expect(rids(harness) == [])
        // Other regions in the settings are merged.
        harness.handle(.configuration(try settings([hall, attic], "tag: \"b\""), modes: [:]))
        #expect(rids(harness) == ["h", "a"])
        harness.setWaypoints(removal)
        harness.handle(.configuration(try settings([hall, attic], "tag: \"b\"")))
        #expect(rids(harness) == ["a", "h"])
    }

    @Test mutating func `A mode that was on trial returns as each tracker had it`() throws {
        harness.handle(.request(.setMonitoring(tracker: 0, .move)))
        let quiet = try GatewayHarness.configuration("cmd: true, remoteConfiguration: true, monitoring: 0")
        harness.handle(
            .settings(
                .valid(
                    SettingsCandidate(
                        configuration: quiet, changes: ["_type": "configuration", "monitoring": 0], waypoints: [],
                        topic: harness.gateway.trackers[0].topics.base))))
        try putInForce(isReachable: false)
        harness.wait(61)
        try putInForce(isReachable: true)
        #expect(harness.gateway.trackers[0].monitoring == .move)
    }
}

extension Gateway.Effect {
    fileprivate var putInForce: (configuration: Configuration, modes: [ExactString: MonitoringMode])? {
        if case .putInForce(let configuration, let modes) = self { (configuration, modes) } else { nil }
    }
}
