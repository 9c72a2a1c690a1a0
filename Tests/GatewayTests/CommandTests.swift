import Base
import Gateway
import JSON
import OwnTracks
import Regions
import Testing

@Suite("Commands")
struct CommandTests {
    @Test("setWaypoints inserts, updates and deletes by rid, and an unknown rid deletes nothing")
    func merge() throws {
        var house = try GatewayHarness()
        house.setWaypoints(
            GatewayHarness.waypoint("kitchen", rid: "k") + "," + GatewayHarness.waypoint("hall", rid: "h"))
        house.setWaypoints(GatewayHarness.waypoint("cellar", rid: "k"))
        #expect(house.gateway.trackers[0].regions.regions.map(\.displayName) == ["cellar", "hall"])
        house.setWaypoints(GatewayHarness.waypoint("x", rid: "h", more: #","lat":100,"lon":500"#))
        house.setWaypoints(GatewayHarness.waypoint("x", rid: "nobody", more: #","lat":100,"lon":500"#))
        #expect(house.gateway.trackers[0].regions.regions.map(\.rid) == ["k"])
    }

    @Test("one bad element is told with its index and reason; its neighbours stand")
    func badElement() throws {
        var house = try GatewayHarness()
        house.setWaypoints(
            GatewayHarness.waypoint("a", rid: "a") + #",{"_type":"waypoint","tst":1,"desc":"b:nonsense"},"#
                + GatewayHarness.waypoint("c", rid: "c"))
        #expect(house.gateway.trackers[0].regions.regions.map(\.rid) == ["a", "c"])
        #expect(house.log.contains { $0.contains("waypoint 1") && $0.contains("nonsense") })
        #expect(house.gateway.counters.waypointsRefused == 1)
    }

    @Test("a region that is no beacon region is taken, and remarked on in the log")
    func noBeacon() throws {
        var house = try GatewayHarness()
        house.setWaypoints(
            GatewayHarness.waypoint("car", rid: "c", more: #","rad":50"#)
                + #",{"_type":"waypoint","tst":1,"rid":"d","desc":"Dog"}"#)
        #expect(house.gateway.trackers[0].regions.regions.count == 2)
        #expect(house.log.contains { $0.contains("waypoint 0 ('car") && $0.contains("rad is above 0") })
        #expect(house.log.contains { $0.contains("waypoint 1 ('Dog')") && $0.contains("neither a UUID nor a radius") })
        #expect(house.gateway.counters.waypointsRefused == 0)
    }

    @Test("the last refusals are kept with their reasons, equal ones as one, and their number is bounded")
    func refusals() throws {
        var house = try GatewayHarness()
        house.command(#"{"_type":"cmd","action":"setWaypoint"}"#)
        house.command(#"{"_type":"cmd","action":"setWaypoints"}"#)
        house.command(#"{"_type":"cmd","action":"setWaypoint"}"#)
        house.setWaypoints(#"{"_type":"waypoint","tst":1,"desc":"b:nonsense"}"#)
        let kept = house.gateway.refusals.refusals
        #expect(kept.map(\.count) == [1, 2, 1])
        #expect(kept[0].text.contains("nonsense") && kept[1].text.contains("setWaypoint'"))
        #expect(Set(kept.map(\.topic)) == [house.gateway.trackers[0].topics.command])
        house.handle(.settings(.invalid(reasons: ["port: 'x' does not fit"], topic: "owntracks/jane/hall")))
        #expect(house.gateway.refusals.refusals.first?.text == "setConfiguration: port: 'x' does not fit")
        for number in 0..<100 {
            let action = String(repeating: "x", count: 1000) + "\(number)"
            house.setWaypoints(
                "{\"_type\":\"waypoint\",\"tst\":1,\"rid\":\"\(number)\",\"desc\":\"b\(number):\(action)\"}")
        }
        #expect(house.gateway.refusals.refusals.count == RecentRefusals.most)
        #expect(house.gateway.refusals.refusals.allSatisfy { $0.text.count <= RecentRefusals.longestText + 1 })
    }

    @Test("a region that is removed while a beacon is inside is left first, under its old name")
    func removedWhileInside() throws {
        var house = try GatewayHarness()
        house.setWaypoints(GatewayHarness.waypoint("kitchen", rid: "k"))
        try house.hear()
        _ = house.drainMessages()
        house.command(#"{"_type":"cmd","action":"clearWaypoints"}"#)
        house.wait(1)
        let messages = house.drainMessages()
        #expect(
            messages.filter { $0.kind == .transition }.map { String(decoding: $0.payload, as: UTF8.self) }
                .allSatisfy { $0.contains(#""desc":"kitchen","event":"leave""#) })
        #expect(messages.last { $0.kind == .state }?.payload == [])
        #expect(house.gateway.trackers[0].regions.regions.isEmpty)
    }

    @Test("a new name for a region is no leave; another beacon for it is")
    func changedWhileInside() throws {
        var house = try GatewayHarness()
        house.setWaypoints(GatewayHarness.waypoint("kitchen", rid: "k"))
        try house.hear()
        _ = house.drainMessages()
        house.setWaypoints(GatewayHarness.waypoint("cellar", rid: "k"))
        #expect(try house.drainEvents().isEmpty)
        house.setWaypoints(GatewayHarness.waypoint("garage", rid: "k", suffix: ":9"))
        #expect(try house.drainEvents() == ["leave cellar"])
    }

    @Test("Removing a region publishes nothing in OwnTracks' tree")
    func removalIsSilent() throws {
        var house = try GatewayHarness("publishWaypoints: true")
        house.setWaypoints(GatewayHarness.waypoint("kitchen", rid: "k"))
        _ = house.drainMessages()
        house.setWaypoints(GatewayHarness.waypoint("x", rid: "k", more: #","lat":100,"lon":500"#))
        #expect(house.drainMessages().map(\.topic) == ["ibeacon-gateway/hall/region/k"])
    }

    @Test("Manual mode tells region events")
    func manual() throws {
        var house = try GatewayHarness("monitoring: 0, lat: 52, lon: 6")
        house.setWaypoints(GatewayHarness.waypoint("kitchen", rid: "k"))
        try house.hear()
        house.wait(61)
        #expect(try house.drainEvents() == ["enter kitchen", "leave kitchen"])
        house.command(#"{"_type":"cmd","action":"reportLocation"}"#)
        #expect(house.log.contains { $0.contains("reportLocation is not answered in manual mode") })
        #expect(house.drainTexts().isEmpty)
        house.command(#"{"_type":"cmd","action":"status"}"#)
        let status = try #require(house.drainMessages().first { $0.topic.hasSuffix("/status") })
        #expect(try JSONValue(parsing: status.payload)["gateway"]?["answersReportLocation"] == false)
    }

    @Test("at 0/0 no location is published for any request")
    func noPlace() throws {
        var house = try GatewayHarness("waypoints: [\(GatewayHarness.waypoint("kitchen", rid: "k"))]")
        try house.hear()
        house.command(#"{"_type":"cmd","action":"reportLocation"}"#)
        house.handle(.request(.reportLocation(tracker: 0)))
        #expect(house.log.count { $0.contains("the place of this gateway is not set (lat, lon)") } == 2)
        #expect(house.drainMessages().filter { $0.kind == .location }.isEmpty)
    }

    @Test("waypoints answers on /waypoints with what setWaypoints would take back")
    func export() throws {
        var house = try GatewayHarness()
        house.setWaypoints(GatewayHarness.waypoint("kitchen", rid: "k", more: #","mine":[1]"#))
        _ = house.drainMessages()
        house.command(#"{"_type":"cmd","action":"waypoints"}"#)
        #expect(
            house.drainTexts() == [
                """
                owntracks/jane/hall/waypoints {"_type":"waypoints","waypoints":[{"_type":"waypoint",\
                "desc":"kitchen:CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7","lat":0,"lon":0,"mine":[1],"rad":0,\
                "rid":"k","tst":1600000000,"wtst":1600000000}]}
                """
            ])
    }

    @Test("reportLocation answers with a location of trigger r")
    func report() throws {
        var house = try GatewayHarness("lat: 52, lon: 6, tag: \"ground floor\"")
        house.command(#"{"_type":"cmd","action":"reportLocation"}"#)
        let told = house.drainTexts()
        #expect(told.count == 1)
        #expect(told[0].hasPrefix("owntracks/jane/hall {"))
        #expect(told[0].contains(#""t":"r","tag":"ground floor""#))
    }

    static let refused: [(command: String, configuration: String, isRetained: Bool, reason: String)] = [
        ("not json", "", false, "not JSON"),
        ("[]", "", false, "object"),
        (#"{"_type":"cmd"}"#, "", false, "action is missing"),
        (#"{"_type":"cmd","action":"setWaypoint"}"#, "", false, "did you mean 'setWaypoints'"),
        (#"{"_type":"cmd","action":"restart"}"#, "", false, "systemd"),
        (#"{"_type":"cmd","action":"clearWaypoints"}"#, "", true, "retained"),
        (#"{"_type":"cmd","action":"reportLocation"}"#, "", true, "retained"),
        (#"{"_type":"cmd","action":"clearWaypoints"}"#, "cmd: false,", false, "switched off"),
        (#"{"_type":"cmd","action":"clearWaypoints"}"#, "encryptionKey: \"s3cr1t\",", false, "unencrypted"),
    ]

    @Test("what cannot be obeyed changes nothing and is logged with its reason", arguments: refused)
    func refusal(row: (command: String, configuration: String, isRetained: Bool, reason: String)) throws {
        var house = try GatewayHarness(
            row.configuration + "waypoints: [" + GatewayHarness.waypoint("a", rid: "a") + "]")
        _ = house.drainMessages()
        house.command(row.command, isRetained: row.isRetained)
        #expect(house.log.contains { $0.contains(row.reason) })
        #expect(house.drainMessages().isEmpty)
        #expect(house.gateway.trackers[0].regions.regions.map(\.rid) == ["a"])
        #expect(house.gateway.counters.commands.refused == 1)
    }

    @Test("a retained setWaypoints is obeyed: it may come again and changes nothing then")
    func retainedWaypoints() throws {
        var house = try GatewayHarness()
        house.setWaypoints(GatewayHarness.waypoint("a", rid: "a"), isRetained: true)
        #expect(house.gateway.trackers[0].regions.regions.map(\.rid) == ["a"])
        _ = house.drainMessages()
        house.setWaypoints(GatewayHarness.waypoint("a", rid: "a"), isRetained: true)
        #expect(house.drainMessages().isEmpty)
    }

    private static let lamp = GatewayHarness.waypoint("a", rid: "a")

    private func isThere(_ rid: String, in house: GatewayHarness) -> Bool {
        house.gateway.trackers[0].regions[rid: rid] != nil
    }

    @Test func `A retained setWaypoints does not bring a removed region back`() throws {
        var house = try GatewayHarness()
        house.setWaypoints(Self.lamp, isRetained: true)
        house.command(#"{"_type":"cmd","action":"clearWaypoints"}"#)
        house.setWaypoints(Self.lamp, isRetained: true)
        #expect(!isThere("a", in: house))
        #expect(house.log.contains { $0.contains("applied before") })
        #expect(house.gateway.counters.commands.refused == 0)
    }

    @Test func `What arrived live is not applied again when the broker sends it as retained`() throws {
        var house = try GatewayHarness()
        house.setWaypoints(Self.lamp)
        house.setWaypoints(GatewayHarness.waypoint("b", rid: "b"))
        house.command(#"{"_type":"cmd","action":"clearWaypoints"}"#)
        house.setWaypoints(Self.lamp, isRetained: true)
        #expect(!isThere("a", in: house))
    }

    @Test func `A live setWaypoints is obeyed each time`() throws {
        var house = try GatewayHarness()
        house.setWaypoints(Self.lamp)
        house.command(#"{"_type":"cmd","action":"clearWaypoints"}"#)
        house.setWaypoints(Self.lamp)
        #expect(isThere("a", in: house))
    }

    @Test func `Another retained setWaypoints is obeyed`() throws {
        var house = try GatewayHarness()
        house.setWaypoints(Self.lamp, isRetained: true)
        house.setWaypoints(GatewayHarness.waypoint("b", rid: "b"), isRetained: true)
        #expect(isThere("a", in: house) && isThere("b", in: house))
    }

    @Test func `What was applied is stored with the regions, and outlives a restart and a new database`() throws {
        func stored(_ house: GatewayHarness) -> [UInt8]? {
            house.effects.reduce(nil) { last, effect in
                guard case .value("commands applied owntracks/jane/hall", let bytes) = effect else { return last }
                return bytes
            }
        }
        var house = try GatewayHarness()
        house.setWaypoints(Self.lamp, isRetained: true)
        let kept = try #require(stored(house))
        _ = house.drainMessages()
        house.handle(.stateLost)
        #expect(stored(house) == kept)

        for (bytes, comesBack) in [(kept, false), ([], true)] {
            var next = try GatewayHarness()
            next.handle(
                .start(
                    StoredState(
                        configuration: next.gateway.configuration, regions: [RegionSet()],
                        appliedCommands: [AppliedCommands(bytes: bytes)])))
            next.setWaypoints(Self.lamp, isRetained: true)
            #expect(isThere("a", in: next) == comesBack)
        }
    }

    @Test
    func `A repeated encrypted command changes nothing, for any tracker, after a restart and with a new database`()
        throws
    {
        let settings = "encryptionKey: \"s3cr1t\", trackers: [{tid: \"K1\", deviceId: \"keys\"}]"
        let clear = #"{"_type":"cmd","action":"clearWaypoints"}"#
        let old = CommandEnvelope(nonce: [1], time: nil)
        func stored(_ house: GatewayHarness) -> [UInt8]? {
            house.effects.reduce(nil) { last, effect in
                guard case .value(ObeyedEnvelopes.storeKey, let bytes) = effect else { return last }
                return bytes
            }
        }
        func withRegions(_ kept: [UInt8]) throws -> GatewayHarness {
            var house = try GatewayHarness(settings)
            let regions = Self.region("a")
            house.handle(
                .start(
                    StoredState(
                        configuration: house.gateway.configuration, regions: [regions, regions],
                        obeyedEnvelopes: ObeyedEnvelopes(bytes: kept))))
            return house
        }
        var house = try withRegions([])
        house.command(clear, wasEncrypted: true, envelope: old)
        #expect(house.gateway.trackers.map(\.regions.regions.count) == [0, 1])
        let kept = try #require(stored(house))
        house.command(clear, tracker: 1, wasEncrypted: true, envelope: old)
        #expect(house.gateway.trackers.map(\.regions.regions.count) == [0, 1])
        #expect(house.log.contains { $0.contains("this encrypted message was obeyed before") })
        _ = house.drainMessages()
        house.handle(.stateLost)
        #expect(stored(house) == kept)

        var next = try withRegions(kept)
        next.command(clear, wasEncrypted: true, envelope: old)
        #expect(next.gateway.trackers.map(\.regions.regions.count) == [1, 1])
        next.command(clear, wasEncrypted: true, envelope: CommandEnvelope(nonce: [2], time: nil))
        #expect(next.gateway.trackers.map(\.regions.regions.count) == [0, 1])
    }

    private static func region(_ rid: String) -> RegionSet {
        var house = try? GatewayHarness()
        house?.setWaypoints(GatewayHarness.waypoint(rid, rid: rid))
        return house?.gateway.trackers[0].regions ?? RegionSet()
    }

    @Test("a command that came just before the end is carried out")
    func end() throws {
        var house = try GatewayHarness("remoteConfiguration: true")
        house.command(
            #"{"_type":"cmd","action":"setWaypoints","waypoints":[\#(GatewayHarness.waypoint("mine", rid: "a"))]}"#,
            ticks: false)
        house.command(
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration","tag":"x"}}"#,
            ticks: false)
        try house.restart(after: 1)
        #expect(house.gateway.trackers[0].regions.regions.map(\.rid) == ["a"])
        #expect(house.effects.contains { if case .regions = $0 { true } else { false } })
        #expect(house.log.contains { $0.hasSuffix("the service is about to end") })
        #expect(!house.effects.contains { if case .checkSettings = $0 { true } else { false } })
    }

    @Test("each tracker has its own regions, commands and topics")
    func trackers() throws {
        var house = try GatewayHarness("trackers: [{tid: \"K1\", deviceId: \"keys\"}]")
        house.setWaypoints(GatewayHarness.waypoint("mine", rid: "a"))
        house.command(
            #"{"_type":"cmd","action":"setWaypoints","waypoints":[\#(GatewayHarness.waypoint("keys", rid: "a"))]}"#,
            tracker: 1)
        try house.hear()
        let told = house.drainTexts()
        #expect(
            told.map { String($0.prefix { $0 != " " }) } == ["owntracks/jane/hall/event", "owntracks/jane/keys/event"])
        #expect(told[1].contains(#""tid":"K1""#))
    }
}

extension GatewayHarness {
    /// The log so far.
    var log: [String] { effects.compactMap { if case .log(let entry) = $0 { entry.text } else { nil } } }
}
