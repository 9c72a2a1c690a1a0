import Base
import Configuration
import OwnTracks
import Regions
import Testing

@testable import Gateway

/// Another configuration while people are inside.
@Suite("Reconfiguration")
struct ReconfigurationTests {
    private static let trackers = [
        "{deviceId: \"keys\", tid: \"K1\", waypoints: [\(GatewayHarness.waypoint("keys", rid: "k", suffix: ":1"))]}",
        "{deviceId: \"bag\", tid: \"B1\", waypoints: [\(GatewayHarness.waypoint("bag", rid: "k", suffix: ":2"))]}",
    ]

    private static func settings(_ trackers: [String], more: String = "") -> String {
        "trackers: [\(trackers.joined(separator: ","))], \(more)"
    }

    private static func configuration(_ members: String) throws -> Configuration {
        let text = "{_type: \"configuration\", username: \"jane\", deviceId: \"hall\", leaveAfter: 60, \(members)}"
        return try Configuration(parsing: Array(text.utf8), hostName: "test")
    }

    @Test("a tracker that moves up in the list keeps its regions and who is inside", arguments: [[1], [1, 0]])
    func reordered(order: [Int]) throws {
        var house = try GatewayHarness(Self.settings(Self.trackers))
        try house.hear(major: 1)
        try house.hear(major: 2)
        #expect(try house.drainEvents() == ["enter keys", "enter bag"])
        house.handle(.configuration(try Self.configuration(Self.settings(order.map { Self.trackers[$0] }))))
        #expect(try house.drainEvents().isEmpty)
        #expect(house.gateway.trackers[1].regions.regions.map(\.displayName) == ["bag"])
        try house.hear(major: 2)
        #expect(try house.drainEvents().isEmpty)
        house.wait(120)
        let told = house.drainTexts().filter { $0.contains("leave") }
        #expect(told.count == order.count)
        #expect(told.contains { $0.hasPrefix("owntracks/jane/bag/event") && $0.contains(#""tid":"B1""#) })
    }

    @Test("what was retained of a tracker that is no more, or has another device, is emptied")
    func abandoned() throws {
        var house = try GatewayHarness(Self.settings(Self.trackers))
        _ = house.drainMessages()
        let renamed = Self.trackers[0].split(separator: "keys", maxSplits: 1).joined(separator: "pocket")
        house.handle(.configuration(try Self.configuration(Self.settings([renamed]))))
        let emptied = house.drainMessages().filter { $0.payload.isEmpty }
        #expect(emptied.allSatisfy { $0.isRetained && $0.kind == .state })
        #expect(
            Set(emptied.map(\.topic)) == ["ibeacon-gateway/keys/region/k", "ibeacon-gateway/bag/region/k"])
        #expect(house.gateway.trackers[1].regions.regions.map(\.rid) == ["k"])
    }

    @Test func `A tracker that comes back in the place of another one continues itself`() throws {
        let own = GatewayHarness.waypoint("Car|2|2", rid: "c", suffix: ":3")
        let bare = "{deviceId: \"car\", tid: \"C1\"}"
        var house = try GatewayHarness(Self.settings([Self.trackers[1], bare]))
        house.command(#"{"_type":"cmd","action":"setWaypoints","waypoints":[\#(own)]}"#, tracker: 2)
        house.handle(.configuration(try Self.configuration(Self.settings([Self.trackers[1]]))))
        house.handle(.configuration(try Self.configuration(Self.settings([bare]))))
        #expect(house.gateway.trackers[1].regions.regions.map(\.rid).contains("c"))
        house.handle(.configuration(try Self.configuration(Self.settings([Self.trackers[1]]))))
        #expect(house.gateway.trackers[1].regions.regions.map(\.rid) == ["k"])
    }

    @Test func `A tracker that is removed and comes back has its regions, its mode and who is inside`() throws {
        let own = GatewayHarness.waypoint("Car|2|2", rid: "c", suffix: ":3")
        var house = try GatewayHarness(Self.settings(Self.trackers))
        house.command(#"{"_type":"cmd","action":"setWaypoints","waypoints":[\#(own)]}"#, tracker: 2)
        try house.hear(major: 2)
        try house.hear(major: 3)
        #expect(try house.drainEvents() == ["enter bag", "enter Car"])
        house.handle(.configuration(try Self.configuration(Self.settings([Self.trackers[0]]))))
        house.wait(200)
        house.handle(.configuration(try Self.configuration(Self.settings(Self.trackers))))
        let returned = house.gateway.trackers[2]
        #expect(returned.regions.regions.map(\.rid) == ["k", "c"])
        #expect(returned.monitoring == .move)
        #expect(returned.occupancy.count == 2)
        house.wait(30)
        // Only one of the two is still there.
        try house.hear(major: 2)
        #expect(try house.drainEvents().isEmpty)
        house.wait(31)
        #expect(try house.drainEvents() == ["leave Car"])
        house.wait(31)
        #expect(try house.drainEvents() == ["leave bag"])
    }

    @Test func `A region that the settings change while its tracker is missing is left when the tracker comes back`()
        throws
    {
        var house = try GatewayHarness(Self.settings(Self.trackers))
        try house.hear(major: 2)
        _ = house.drainMessages()
        house.handle(.configuration(try Self.configuration("")))
        let other = GatewayHarness.waypoint("bag", rid: "k", suffix: ":4")
        let changed = "{deviceId: \"bag\", tid: \"B1\", waypoints: [\(other)]}"
        house.handle(.configuration(try Self.configuration(Self.settings([Self.trackers[0], changed]))))
        #expect(try house.drainEvents() == ["leave bag"])
    }

    @Test func `What removed trackers had is bounded together with the regions in force`() throws {
        var house = try GatewayHarness(Self.settings(Self.trackers))
        house.handle(.configuration(try Self.configuration("")))
        #expect(house.gateway.tracking.removed.regionCount == 2)
        house.change(try CrowdTests.regions(Gateway.mostRegions - 1))
        #expect(house.gateway.tracking.removed.regionCount == 1)
        house.change(try CrowdTests.regions(Gateway.mostRegions))
        #expect(house.gateway.tracking.removed.regionCount == 0)
        // What was forgotten is not in the store either.
        #expect(Self.emptied(in: house.effects) == ["owntracks/jane/keys", "owntracks/jane/bag"])
        let topics = house.effects.compactMap { effect -> [UInt8]? in
            guard case .value(let key, let bytes) = effect, key == Gateway.removedTopicsKey else { return nil }
            return bytes
        }
        #expect(topics.last == Array("[]".utf8))
    }

    @Test func `Of too many removed trackers the earliest is forgotten, in the store too`() throws {
        let most = RemovedTrackers.most
        func removed(_ numbers: ClosedRange<Int>) -> [RemovedTracker] {
            numbers.map {
                RemovedTracker(
                    topic: "owntracks/jane/t\($0)", regions: RegionSet(), monitoring: nil,
                    appliedCommands: AppliedCommands())
            }
        }
        let configuration = try Self.configuration("")
        var gateway = Gateway(
            configuration: configuration, wallClock: WallClock(epochOffset: 0, isKnown: true),
            explainsTransitions: false)
        let stored = StoredState(configuration: configuration, regions: [], removed: removed(0...most))
        let effects = gateway.handle(.start(stored), at: .zero)
        #expect(Self.emptied(in: effects) == ["owntracks/jane/t0"])
        #expect(gateway.tracking.removed.count == most)
    }

    private static func emptied(in effects: [Gateway.Effect]) -> [String] {
        effects.compactMap { effect -> String? in
            if case .regions(let topic, let regions) = effect, regions.regions.isEmpty { topic } else { nil }
        }
    }

    @Test func `A command that waits stays with its tracker when the trackers are reordered`() throws {
        var house = try GatewayHarness(Self.settings(Self.trackers))
        house.command(#"{"_type":"cmd","action":"clearWaypoints"}"#, tracker: 1, ticks: false)
        let reordered = Self.settings(["{deviceId: \"bag\"}", "{deviceId: \"keys\"}"])
        house.handle(.configuration(try Self.configuration(reordered)))
        house.handle(.tick)
        #expect(house.gateway.trackers.map(\.configuration.deviceID) == ["hall", "bag", "keys"])
        #expect(house.gateway.trackers.map(\.regions.regions.count) == [0, 1, 0])
    }

    @Test func `A command that waits is dropped with its tracker`() throws {
        var house = try GatewayHarness(Self.settings(Self.trackers))
        house.command(#"{"_type":"cmd","action":"clearWaypoints"}"#, tracker: 1, ticks: false)
        house.handle(.configuration(try Self.configuration(Self.settings([Self.trackers[1]]))))
        house.handle(.tick)
        #expect(house.gateway.trackers.map(\.regions.regions.count) == [0, 1])
        #expect(house.gateway.counters.commands.done == 0)
    }

    @Test func `Regions that wait to be shared are shared on the topic of their tracker after a reorder`() throws {
        let more = "publishWaypoints: true"
        var house = try GatewayHarness(Self.settings(Self.trackers, more: more))
        let many = (0..<600).map { GatewayHarness.waypoint("r\($0)", rid: "\($0)", suffix: ":9:\($0 + 1)") }
        _ = house.drainMessages()
        house.command(
            #"{"_type":"cmd","action":"setWaypoints","waypoints":[\#(many.joined(separator: ","))]}"#, tracker: 1)
        house.handle(.configuration(try Self.configuration(Self.settings(Self.trackers.reversed(), more: more))))
        house.wait(1)
        let topics = house.drainMessages().map(\.topic).filter { $0.hasSuffix("/waypoint") }
        #expect(topics.count == 600)
        #expect(Set(topics) == ["owntracks/jane/keys/waypoint"])
    }

    private static let key = "encryptionKey: \"s3cr1t\","

    @Test(
        "Retained states that a key hides are emptied, whichever setting came last",
        arguments: [
            ("", key), (key + "homeAssistant: {discovery: true},", key), ("homeAssistant: {discovery: true},", key),
        ])
    func hidden(before: String, after: String) throws {
        let regions = "waypoints: [\(GatewayHarness.waypoint("Hall", rid: "h"))]"
        for isLive in [true, false] {
            var house = try GatewayHarness(before + regions)
            house.handle(.brokerConnected(isNew: true))
            try house.hear()
            #expect(house.drainMessages().contains { $0.kind == .state && !$0.payload.isEmpty })
            if isLive {
                house.handle(.configuration(try Self.configuration(after + regions)))
            } else {
                try house.restart(after + regions, after: 1)
                _ = house.drainMessages()
                house.handle(.brokerConnected(isNew: false))
            }
            let states = house.drainMessages().filter { $0.kind == .state }
            #expect(states.map(\.topic) == ["ibeacon-gateway/hall/region/h"])
            #expect(states.allSatisfy { $0.isRetained && $0.payload.isEmpty })
            // Once is enough.
            house.handle(.homeAssistantStarted)
            #expect(!house.drainMessages().contains { $0.kind == .state })
        }
    }

    @Test func `A reload that changes neither key nor discovery empties no state again`() throws {
        let settings = Self.key + "waypoints: [\(GatewayHarness.waypoint("Hall", rid: "h"))]"
        var house = try GatewayHarness(settings)
        house.handle(.brokerConnected(isNew: true))
        _ = house.drainMessages()
        house.handle(.configuration(try Self.configuration(settings)))
        #expect(!house.drainMessages().contains { $0.kind == .state })
    }

    @Test("a monitoring mode that a region switched to stays, unless the settings name another")
    func monitoring() throws {
        var house = try GatewayHarness()
        house.setWaypoints(GatewayHarness.waypoint("Home|2|0", rid: "h"))
        try house.hear()
        #expect(house.gateway.trackers[0].monitoring == .move)
        house.handle(.configuration(try Self.configuration("tag: \"x\"")))
        #expect(house.gateway.trackers[0].monitoring == .move)
        house.handle(.configuration(try Self.configuration("monitoring: -1")))
        #expect(house.gateway.trackers[0].monitoring == .quiet)
    }

    @Test(
        "a stored monitoring mode outlives a restart, and not another setting",
        arguments: [("1", 2, "2 1"), ("-1", -1, "-1 -1")])
    func monitoringAtStart(setting: String, mode: Int, stored: String) throws {
        var house = try GatewayHarness("monitoring: \(setting)")
        let kept = try #require(KeptMonitoring(bytes: Array("2 1".utf8)))
        house.handle(
            .start(
                StoredState(configuration: house.gateway.configuration, regions: [RegionSet()], monitoring: [kept])))
        #expect(house.gateway.trackers[0].monitoring.rawValue == mode)
        house.setWaypoints(GatewayHarness.waypoint("Home|\(mode == 2 ? 0 : 2)|0", rid: "h"))
        try house.hear()
        house.wait(120)
        house.handle(.stateLost)
        let values = house.effects.compactMap { effect in
            if case .monitoring("owntracks/jane/hall", let kept) = effect {
                String(decoding: kept.bytes, as: UTF8.self)
            } else {
                nil
            }
        }
        #expect(values.last == "0 \(setting)")
        #expect(values.contains(stored) == (mode == -1))
    }

    @Test("a mode that was stored without its setting is in force")
    func monitoringOfOldVersion() throws {
        let kept = try #require(KeptMonitoring(bytes: Array("-1".utf8)))
        #expect(kept.mode(for: .significant) == .quiet)
        #expect(KeptMonitoring(bytes: Array("1 2 1".utf8)) == nil)
        #expect(KeptMonitoring(bytes: Array("9".utf8)) == nil)
    }

    @Test("regions that are still being told of when their tracker goes are told of no more")
    func goneWhileTold() throws {
        var house = try GatewayHarness(Self.settings(Self.trackers))
        let many = (0..<600).map { GatewayHarness.waypoint("r\($0)", rid: "\($0)", suffix: ":9:\($0 + 1)") }
        house.command(
            #"{"_type":"cmd","action":"setWaypoints","waypoints":[\#(many.joined(separator: ","))]}"#, tracker: 2)
        house.command(#"{"_type":"cmd","action":"clearWaypoints"}"#, tracker: 2)
        house.handle(.configuration(try Self.configuration("")))
        house.wait(1)
        // What withdraws the states of the removed tracker is a message of the first.
        let base = house.gateway.trackers[0].topics.base
        #expect(house.drainMessages().allSatisfy { $0.owner == base || !$0.payload.isEmpty })
        #expect(house.gateway.nextDeadline == nil)
    }
}
