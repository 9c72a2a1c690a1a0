import Base
import Gateway
import JSON
import OwnTracks
import Regions
import Testing

/// What a command makes the gateway tell and keep; `source` is a section or decision of Docs/owntracks.md.
struct CommandEffectRow: Sendable, CustomTestStringConvertible {
    let source: String
    let command: String
    /// Topics below the base of what is told, with the `_type` that is on each.
    var told: [String] = []
    /// The `rid`s of the regions afterwards; "a" and "c" were there before, the latter a circle.
    var regions = ["a", "c"]
    /// Words of the log; nil: nothing is refused.
    var refused: String?
    var settings = ""

    var testDescription: String { "\(source): \(command)" }
}

/// One kind of message: when it comes, where it goes and how.
struct MessageRow: Sendable, CustomTestStringConvertible {
    let source: String
    let type: String
    /// Below the base; empty for the base itself.
    let suffix: String
    let isRetained: Bool
    /// Members that it has with these values.
    let members: [String: JSONValue]
    let settings: String
    let happening: Happening

    enum Happening: Sendable {
        case enter, leave, connection
        case command(String)
    }

    init(
        _ source: String, _ type: String, on suffix: String, isRetained: Bool = false,
        _ members: [String: JSONValue], settings: String = "", when happening: Happening
    ) {
        (self.source, self.type, self.suffix, self.isRetained) = (source, type, suffix, isRetained)
        (self.members, self.settings, self.happening) = (members, settings, happening)
    }

    var testDescription: String { "\(source): \(type)" }
}

@Suite("Messages and commands, one row each")
struct MessageTableTests {
    static let regions =
        GatewayHarness.waypoint("Kitchen|1|2", rid: "a") + ","
        + #"{"_type":"waypoint","tst":1,"rid":"c","desc":"Home","lat":52,"lon":6,"rad":100}"#

    static func harness(_ settings: String) throws -> GatewayHarness {
        var house = try GatewayHarness("lat: 52, lon: 6, acc: 20, tid: \"gw\", waypoints: [\(regions)], \(settings)")
        _ = house.drainMessages()
        return house
    }

    static func setWaypoints(_ elements: String) -> String {
        #"{"_type":"cmd","action":"setWaypoints","waypoints":\#(elements)}"#
    }

    static func action(_ name: String) -> String { #"{"_type":"cmd","action":"\#(name)"}"# }

    static let commands: [CommandEffectRow] = [
        .init(source: "3 reportLocation", command: action("reportLocation"), told: [" location"]),
        .init(source: "3 waypoints", command: action("waypoints"), told: ["/waypoints waypoints"]),
        .init(source: "3 status, decision 20", command: action("status"), told: ["/status status"]),
        .init(source: "3 dump, decision 16", command: action("dump"), told: ["/dump dump"]),
        .init(
            source: "3 clearWaypoints", command: action("clearWaypoints"),
            // The circle that it was in is left.
            told: ["/event transition", " location"], regions: []),
        .init(
            source: "3 setWaypoints, Regions page",
            command: setWaypoints(
                #"{"_type":"waypoints","waypoints":[\#(GatewayHarness.waypoint("b", rid: "b"))]}"#),
            regions: ["a", "c", "b"]),
        .init(
            source: "3.1 a bare array", command: setWaypoints("[\(GatewayHarness.waypoint("b", rid: "b"))]"),
            regions: ["a", "c", "b"]),
        .init(
            source: "3.1 deletion, decision 6",
            command: setWaypoints(#"[{"_type":"waypoint","tst":1,"rid":"a","desc":"x","lat":100,"lon":500}]"#),
            regions: ["c"]),
        .init(
            source: "3.1 deletion of an unknown rid is nothing, decision 6",
            command: setWaypoints(#"[{"_type":"waypoint","tst":1,"rid":"z","desc":"x","lat":100,"lon":500}]"#)),
        .init(
            source: "3.1 an element whose lat is null is skipped, decision 7",
            command: setWaypoints(#"[{"_type":"waypoint","tst":1,"rid":"z","desc":"x","lat":null}]"#)),
        .init(
            source: "1.4 publishWaypoints",
            command: setWaypoints("[\(GatewayHarness.waypoint("b", rid: "b"))]"), told: ["/waypoint waypoint"],
            regions: ["a", "c", "b"], settings: "publishWaypoints: true"),
        .init(
            source: "3 setConfiguration, decision 17",
            command: #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration"}}"#,
            refused: "'remoteConfiguration' is false"),
        .init(source: "3 restart", command: action("restart"), refused: "systemd does that"),
        .init(source: "3 reportSteps", command: action("reportSteps"), refused: "does not count steps"),
        .init(source: "3 response", command: action("response"), refused: "does not use tours"),
        .init(source: "SCH cmd-illegal-action", command: action("explode"), refused: "unknown action 'explode'"),
        .init(source: "SCH cmd-without-action", command: #"{"_type":"cmd"}"#, refused: "action is missing"),
        .init(
            source: "3, cmd is off", command: action("clearWaypoints"), refused: "switched off", settings: "cmd: false"),
        .init(
            source: "decision 26", command: action("clearWaypoints"), refused: "unencrypted",
            settings: "encryptionKey: \"k\""),
    ]

    @Test("Every command does what it is for, and is answered where OwnTracks looks for it", arguments: commands)
    func command(row: CommandEffectRow) throws {
        var house = try Self.harness(row.settings)
        house.command(row.command)
        // The regions that it is in are cleared a second later.
        if row.command == Self.action("clearWaypoints"), row.refused == nil { house.wait(1) }
        let log = house.log
        let told = try house.drainMessages().filter { $0.kind != .state }.map { message in
            let type = try JSONValue(parsing: message.payload)["_type"]?.string ?? "?"
            return "\(message.topic.dropFirst("owntracks/jane/hall".count)) \(type)"
        }
        #expect(told == row.told)
        #expect(house.gateway.trackers[0].regions.regions.map(\.rid) == row.regions)
        #expect(house.gateway.counters.commands.refused == (row.refused == nil ? 0 : 1))
        if let reason = row.refused { #expect(log.contains { $0.contains(reason) }) }
    }

    static let messages: [MessageRow] = [
        .init(
            "1.1, Regions page", "transition", on: "/event",
            [
                "t": "b", "event": "enter", "desc": "Kitchen", "rid": "a", "wtst": 1_600_000_000, "tid": "gw",
                "tst": 1_700_000_000, "lat": 52, "lon": 6, "acc": 20,
            ], when: .enter),
        .init(
            "1.1, decision 8: the time of the decision", "transition", on: "/event",
            ["event": "leave", "tst": 1_700_000_060], when: .leave),
        .init(
            "1.1, away", "transition", on: "/event", ["event": "leave", "lat": 1, "lon": 2],
            settings: "away: {lat: 1, lon: 2}", when: .leave),
        .init(
            "1.1, away: the circle around the gateway", "transition", on: "/event",
            ["t": "c", "event": "leave", "desc": "Home", "lat": 1, "lon": 2], settings: "away: {lat: 1, lon: 2}",
            when: .leave),
        .init(
            "1.2, Location page: the location at every enter", "location", on: "", isRetained: true,
            ["t": "b", "inregions": ["Kitchen", "Home"], "inrids": ["a", "c"]], when: .enter),
        .init(
            "1.0 pubRetain", "location", on: "", ["t": "b"], settings: "pubRetain: false", when: .enter),
        .init(
            "1.2, iOS page: sent on request", "location", on: "", isRetained: true,
            ["t": "r", "inregions": ["Home"], "inrids": ["c"], "tag": "Spain 2023"], settings: "tag: \"Spain 2023\"",
            when: .command("reportLocation")),
        .init(
            "1.3", "beacon", on: "/beacon",
            ["desc": "Kitchen|1|2", "major": 1, "minor": 7, "prox": 2, "rssi": -60, "tst": 1_700_000_000],
            settings: "ranging: true", when: .enter),
        .init("1.4, waypoints", "waypoints", on: "/waypoints", [:], when: .command("waypoints")),
        .init("1.6, decision 16", "dump", on: "/dump", [:], when: .command("dump")),
        .init("1.6, decision 20", "status", on: "/status", [:], when: .command("status")),
        .init(
            "1.6 card", "card", on: "/info", isRetained: true, ["name": "Hall", "tid": "gw"],
            settings: "card: {name: \"Hall\"}", when: .connection),
    ]

    @Test("Every message goes to its topic with pubQos, and only what shall be is retained", arguments: messages)
    func message(row: MessageRow) throws {
        var house = try Self.harness("pubQos: 2, \(row.settings)")
        switch row.happening {
        case .enter: try house.hear()
        case .leave:
            try house.hear()
            _ = house.drainMessages()
            house.wait(61)
        case .connection: house.handle(.brokerConnected(isNew: true))
        case .command(let action): house.command(Self.action(action))
        }
        let all = house.drainMessages().filter { $0.kind != .state || $0.topic.hasPrefix("owntracks/") }
        let found = try all.map { ($0, try JSONValue(parsing: $0.payload)) }.filter {
            // Circles are crossed besides; a row is about them only if it says so.
            $0.1["_type"] == .string(row.type) && ($0.1["t"] == "c") == (row.members["t"] == "c")
        }
        #expect(found.count == 1)
        let (message, json) = try #require(found.first)
        #expect(message.topic == "owntracks/jane/hall\(row.suffix)")
        #expect(message.isRetained == row.isRetained)
        #expect(message.qos == .exactlyOnce)
        for (name, value) in row.members { #expect(json[name] == value, "\(name)") }
        #expect(json.bytes == message.payload)
        #expect(!message.payload.contains(UInt8(ascii: "\n")))
    }

    @Test("There is a row for every message and every command")
    func complete() {
        let types = Set(Self.messages.map(\.type))
        #expect(types == ["transition", "location", "beacon", "waypoints", "dump", "status", "card"])
        for action in CommandAction.allCases where action.rule.delivery(to: .gateway) != .unsupported {
            // setConfiguration is carried out by the service.
            #expect(
                Self.commands.contains {
                    $0.command.contains("\"\(action)\"") && ($0.refused == nil || action == .setConfiguration)
                })
        }
    }

    @Test("Unasked, a gateway says only what Home Assistant takes without a warning (5.1)")
    func unasked() throws {
        var house = try Self.harness("")
        house.handle(.brokerConnected(isNew: true))
        try house.hear()
        house.wait(61)
        house.handle(.brokerConnected(isNew: true))
        house.handle(.homeAssistantStarted)
        let own = house.drainMessages().filter { $0.topic.hasPrefix("owntracks/") }
        let types = try Set(own.map { try JSONValue(parsing: $0.payload)["_type"]?.string })
        #expect(types == ["transition", "location"])
    }

    @Test("Ten thousand regions are told of in turns, each once")
    func turns() throws {
        var house = try GatewayHarness()
        _ = house.drainMessages()
        let elements = (0..<1000).map { GatewayHarness.waypoint("r\($0)", rid: "\($0)", suffix: ":\($0 + 1)") }
        house.setWaypoints(elements.joined(separator: ","))
        let first = house.drainMessages()
        #expect(first.count == 250)
        #expect(house.gateway.nextDeadline != nil)
        house.wait(1)
        let topics = (first + house.drainMessages()).map(\.topic)
        #expect(topics == (0..<1000).map { "ibeacon-gateway/hall/region/\($0)" })
        #expect(house.gateway.nextDeadline == nil)
        // Cleared while they are still being told: a region that is gone is not told of any more.
        house.handle(.homeAssistantStarted)
        house.command(Self.action("clearWaypoints"))
        house.wait(1)
        let last = Dictionary(house.drainMessages().map { ($0.topic, $0.payload) }) { _, last in last }
        #expect(last.count == 1000)
        #expect(last.values.allSatisfy { $0.isEmpty })
    }
}
