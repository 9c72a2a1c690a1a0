import Base
import Configuration
import JSON
import OwnTracks
import Regions
import Testing

@testable import Gateway

/// Circles are entered and left by the tracker's position: the gateway's, or `away` after its last leave.
@Suite struct CircleTests {
    private static let home = #"{"_type":"waypoint","tst":1,"rid":"home","desc":"Home","lat":52,"lon":6,"rad":100}"#
    private static let far = #"{"_type":"waypoint","tst":2,"rid":"far","desc":"Far","lat":1,"lon":2,"rad":100}"#
    private static let kitchen = GatewayHarness.waypoint("Kitchen", rid: "k")

    private func house(_ regions: String..., more: String = "") throws -> GatewayHarness {
        try GatewayHarness(
            "lat: 52, lon: 6, ping: 0, away: {lat: 1, lon: 2}, waypoints: [\(regions.joined(separator: ","))], \(more)")
    }

    /// `c enter Home` for each transition, and `c` for the location after it.
    private func drainCrossings(_ house: inout GatewayHarness) throws -> [String] {
        try house.drainMessages().filter { $0.kind == .transition || $0.kind == .location }.map { message in
            let json = try JSONValue(parsing: message.payload)
            let kind = message.kind == .transition ? "" : "location "
            let words = ["t", "event", "desc"].compactMap { json[$0]?.string }.joined(separator: " ")
            return kind + words
        }
    }

    @Test func `A circle that is created around the tracker is entered, with t c (Location page)`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6")
        _ = house.drainMessages()
        house.setWaypoints(Self.home + "," + Self.far)
        let messages = house.drainMessages().filter { $0.kind == .transition || $0.kind == .location }
        let transition = try JSONValue(parsing: try #require(messages.first).payload)
        #expect(
            transition == [
                "_type": "transition", "t": "c", "event": "enter", "desc": "Home", "rid": "home", "tid": "LL",
                "lat": 52, "lon": 6, "acc": 10, "tst": .integer(GatewayHarness.epoch), "wtst": 1,
            ])
        #expect(messages.map(\.topic) == ["owntracks/jane/hall/event", "owntracks/jane/hall"])
        let location = try JSONValue(parsing: try #require(messages.last).payload)
        #expect((location["t"], location["event"], location["desc"]) == ("c", "enter", "Home"))
        #expect(location["inregions"] == ["Home"])
    }

    @Test func `A tracker that comes home leaves the circle where it was and enters that around the gateway`() throws {
        var house = try house(Self.kitchen, Self.home, Self.far)
        #expect(try drainCrossings(&house) == ["c enter Far", "location c enter Far"])
        try house.hear()
        #expect(
            try drainCrossings(&house) == [
                "b enter Kitchen", "location b enter Kitchen", "c leave Far", "location c leave Far", "c enter Home",
                "location c enter Home",
            ])
    }

    @Test func `After its last leave a tracker leaves the circle around the gateway, from where it is then`() throws {
        var house = try house(Self.kitchen, Self.home)
        try house.hear()
        _ = house.drainMessages()
        house.wait(61)
        let messages = house.drainMessages().filter { $0.kind == .transition }
        let leaves = try messages.map { try JSONValue(parsing: $0.payload) }
        #expect(leaves.map { $0["desc"] } == ["Kitchen", "Home"])
        #expect(leaves.map { $0["t"] } == ["b", "c"])
        #expect(leaves.map { $0["lat"] } == [1, 1])
    }

    @Test func `A leave that is not the last crosses no circle`() throws {
        var house = try house(Self.kitchen, GatewayHarness.waypoint("Hall", rid: "h", suffix: ":1:8"), Self.home)
        try house.hear()
        _ = house.drainMessages()
        for _ in 0..<7 {
            try house.hear(minor: 8)
            house.wait(10)
        }
        #expect(try house.drainEvents() == ["enter Hall", "leave Kitchen"])
    }

    @Test func `A circle that moves away is left, and one that grows around the tracker is entered`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6, waypoints: [\(Self.home), \(Self.far)]")
        _ = house.drainMessages()
        house.setWaypoints(Self.home.replacing("\"lat\":52", with: "\"lat\":53"))
        #expect(try house.drainEvents() == ["leave Home"])
        house.setWaypoints(Self.far.replacing("\"rad\":100", with: "\"rad\":9000000"))
        #expect(try house.drainEvents() == ["enter Far"])
    }

    @Test func `A circle that is removed is left by its old name, and one that is renamed is not left`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6, waypoints: [\(Self.home)]")
        _ = house.drainMessages()
        house.setWaypoints(Self.home.replacing("\"Home\"", with: "\"House\""))
        #expect(try house.drainEvents() == [])
        house.command(#"{"_type":"cmd","action":"clearWaypoints"}"#)
        house.wait(1)
        #expect(try house.drainEvents() == ["leave House"])
        #expect(house.gateway.trackers[0].circles.isEmpty)
    }

    @Test func `A circle that becomes a beacon region is left`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6, waypoints: [\(Self.home)]")
        _ = house.drainMessages()
        house.setWaypoints(GatewayHarness.waypoint("Home", rid: "home"))
        #expect(try drainCrossings(&house).filter { !$0.hasPrefix("location") } == ["c leave Home"])
        try house.hear()
        #expect(try drainCrossings(&house).filter { !$0.hasPrefix("location") } == ["b enter Home"])
    }

    @Test(arguments: [true, false])
    func `After a restart no circle is entered again, and what changed meanwhile is told`(isSameBoot: Bool) throws {
        var house = try house(Self.kitchen, Self.home, Self.far)
        try house.hear()
        _ = house.drainMessages()
        try house.restart(
            "lat: 52, lon: 6, ping: 0, away: {lat: 1, lon: 2}, waypoints: [\(Self.home)]", after: 10,
            isSameBoot: isSameBoot)
        #expect(try house.drainEvents() == [])
        // The gateway moved while it was off.
        try house.restart("lat: 1, lon: 2, ping: 0", after: 10, isSameBoot: isSameBoot)
        #expect(try house.drainEvents() == ["leave Home", "enter Far"])
    }

    @Test func `Presence of a version without circles is taken over`() throws {
        var house = try house(Self.kitchen)
        try house.hear()
        house.handle(.stopping)
        let stay = try #require(KeptPresence(bytes: house.storedWhole)?.occupancies.first)
        // Versions from 2 on say of each stay whether a beacon follows: one byte after rid, instant and time.
        var bytes = house.storedWhole
        let topic = 4 + "owntracks/jane/hall".utf8.count
        let flag = 1 + 4 + topic + 4 + 4 + 4 + stay.rid.utf8.count + 8 + 9
        #expect(bytes[flag] == 1)
        bytes.remove(at: flag)
        bytes[0] = 1
        let old = try #require(KeptPresence(bytes: bytes))
        #expect(old.occupancies == [stay])
    }

    @Test func `A move of the gateway crosses circles`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6, waypoints: [\(Self.home), \(Self.far)]")
        _ = house.drainMessages()
        let text = "{username: \"jane\", deviceId: \"hall\", lat: 1, lon: 2}"
        house.handle(.configuration(try Configuration(parsing: Array(text.utf8), hostName: "test")))
        #expect(try house.drainEvents() == ["leave Home", "enter Far"])
    }

    @Test func `Where no place is set no circle is entered`() throws {
        var house = try GatewayHarness("")
        house.setWaypoints(#"{"_type":"waypoint","tst":1,"rid":"null","desc":"Null","lat":0,"lon":0,"rad":100}"#)
        #expect(try drainCrossings(&house) == [])
    }

    @Test func `A moving circle is neither entered nor left (iOS page)`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6")
        house.setWaypoints(#"{"_type":"waypoint","tst":1,"rid":"f","desc":"+follow","lat":52,"lon":6,"rad":100}"#)
        #expect(try drainCrossings(&house) == [])
        #expect(house.gateway.trackers[0].regions.regions.count == 1)
    }

    @Test func `A circle switches the monitoring mode by its name (iOS page)`() throws {
        var house = try house(Self.kitchen, Self.home.replacing("\"Home\"", with: "\"Home|1|2\""))
        try house.hear()
        #expect(house.gateway.trackers[0].monitoring == .significant)
        house.wait(61)
        #expect(house.gateway.trackers[0].monitoring == .move)
    }

    @Test func `In quiet mode crossing a circle is recorded and not told`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6, monitoring: -1")
        house.setWaypoints(Self.home)
        let records = house.effects.compactMap { effect in
            if case .record(let record) = effect { record } else { nil }
        }
        #expect(records.map(\.name) == ["Home"])
        #expect(records.map(\.beacon) == [nil])
        #expect(try drainCrossings(&house) == [])
    }

    @Test func `A thousand circles are entered in turns, each once`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6, ping: 0")
        let circles = (0..<1000).map {
            #"{"_type":"waypoint","tst":1,"rid":"\#($0)","desc":"C\#($0)","lat":52,"lon":6,"rad":100}"#
        }
        house.setWaypoints(circles.joined(separator: ","))
        let first = try house.drainEvents()
        #expect(first.count <= 200)
        house.wait(2)
        #expect(try first + house.drainEvents() == (0..<1000).map { "enter C\($0)" })
    }

    @Test func `In move mode a tracker in a circle reports every locatorInterval`() throws {
        var house = try GatewayHarness(
            "lat: 52, lon: 6, monitoring: 2, locatorInterval: 100, waypoints: [\(Self.home)]")
        _ = house.drainMessages()
        house.wait(201)
        #expect(house.drainMessages().filter { $0.kind == .ping }.count == 2)
    }

    @Test func `The enter of a circle is sent again for those who have forgotten it`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6, reannounce: true, waypoints: [\(Self.home)]")
        house.handle(.brokerConnected(isNew: true))
        _ = house.drainMessages()
        house.wait(10)
        house.handle(.homeAssistantStarted)
        let message = try #require(house.drainMessages().first { $0.kind == .transition })
        let enter = try JSONValue(parsing: message.payload)
        #expect((enter["t"], enter["tst"]) == ("c", .integer(GatewayHarness.epoch)))
    }
}
