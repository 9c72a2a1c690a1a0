import Base
import JSON
import OwnTracks
import Regions
import Testing

@testable import Gateway

/// `tst` and `wtst` of regions, and what stands in for members that a waypoint leaves out.
@Suite struct RegionTimeTests {
    private static func region(_ house: GatewayHarness, _ rid: String) throws -> Region {
        try #require(house.gateway.trackers[0].regions[rid: rid])
    }

    @Test func `A waypoint with nothing but its type is taken with the defaults (iOS waypoints page)`() throws {
        var house = try GatewayHarness()
        house.wait(10)
        house.setWaypoints(#"{"_type":"waypoint"}"#)
        let region = try #require(house.gateway.trackers[0].regions.regions.first)
        #expect(region.description.name == "Here")
        #expect(region.timestamp == GatewayHarness.epoch + 10)
        #expect(region.coordinates == Coordinates(latitude: 0, longitude: 0))
        #expect(region.radius == 0)
        // The same again is the same region, with its first time.
        house.wait(10)
        house.setWaypoints(#"{"_type":"waypoint"}"#)
        #expect(house.gateway.trackers[0].regions.regions == [region])
    }

    @Test func `A list without waypoints changes nothing (iOS waypoints page)`() throws {
        var house = try GatewayHarness()
        house.setWaypoints(GatewayHarness.waypoint("Kitchen", rid: "k"))
        house.command(#"{"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints"}}"#)
        #expect(house.gateway.counters.commands.refused == 0)
        #expect(house.gateway.trackers[0].regions.regions.count == 1)
    }

    @Test func `A change without a time keeps the original time stamp (Regions page)`() throws {
        var house = try GatewayHarness()
        house.setWaypoints(GatewayHarness.waypoint("Kitchen", rid: "k"))
        house.setWaypoints(#"{"_type":"waypoint","rid":"k","desc":"Cellar:\#(GatewayHarness.uuid):1:7"}"#)
        let region = try Self.region(house, "k")
        #expect(region.displayName == "Cellar")
        #expect(region.timestamp == 1_600_000_000)
    }

    @Test func `A changed waypoint takes the message's time, and its creation stays (Regions page)`() throws {
        var house = try GatewayHarness()
        house.setWaypoints(GatewayHarness.waypoint("Kitchen", rid: "k"))
        let changed = GatewayHarness.waypoint("Cellar", rid: "k").replacing("1600000000", with: "1650000000")
        house.setWaypoints(changed)
        #expect(try Self.region(house, "k").timestamp == 1_650_000_000)
        #expect(try Self.region(house, "k").creationTimestamp == 1_600_000_000)
        // The same again with another time says nothing new.
        house.setWaypoints(changed.replacing("1650000000", with: "1660000000"))
        #expect(try Self.region(house, "k").timestamp == 1_650_000_000)
    }

    @Test func `The transition of a region has the time of its creation, as in the example (Regions page)`() throws {
        var house = try GatewayHarness("lat: 48.87069, lon: 2.34916, tid: \"j1\"")
        house.setWaypoints(
            """
            {"_type":"waypoint","desc":"My favorite coffee shop (Delaville):\(GatewayHarness.uuid):1:7","lat":48.87069,
            "lon":2.34916,"rad":"0","tst":"1385997757","rid":"f7676c","wtst":1610104395}
            """)
        try house.hear()
        let message = try #require(house.drainMessages().first { $0.kind == .transition })
        var members = try #require(try JSONValue(parsing: message.payload).object)
        // What the example leaves out, and what this project promises besides.
        (members["acc"], members["t"]) = (nil, nil)
        #expect(
            JSONValue.object(members) == [
                "_type": "transition", "desc": "My favorite coffee shop (Delaville)", "event": "enter",
                "lat": .number(48.87069), "lon": .number(2.34916), "rid": "f7676c", "tid": "j1",
                "tst": .integer(GatewayHarness.epoch), "wtst": 1_610_104_395,
            ])
    }

    @Test func `The coffee shop of the example, a circle of 50 m, is told of member by member (Regions page)`() throws {
        var house = try GatewayHarness("lat: 48.87069, lon: 2.34916, tid: \"j1\", publishWaypoints: true")
        // The time stamps of the example: the enter is at its tst.
        house.step(by: 1_707_057_574 - GatewayHarness.epoch)
        let waypoint = """
            {"_type":"waypoint","desc":"My favorite coffee shop (Delaville)","lat":48.87069,"lon":2.34916,"rad":"50",
            "tst":"1385997757","rid":"f7676c","wtst":1610104395}
            """
        house.setWaypoints(waypoint)
        let messages = house.drainMessages()
        let message = try #require(messages.first { $0.kind == .transition })
        #expect(message.topic == "owntracks/jane/hall/event")
        let members = try #require(try JSONValue(parsing: message.payload).object)
        let example = try JSONValue(
            parsing: """
                {"_type":"transition","desc":"My favorite coffee shop (Delaville)","event":"enter","lat":48.87069,
                "lon":2.34916,"rid":"f7676c","tid":"j1","tst":1707057574,"wtst":1610104395}
                """)
        #expect(JSONValue.object(members.filter { !["acc", "t"].contains($0.key) }) == example)
        #expect(members["t"] == "c")
        // The waypoint comes back as it was set up, its numbers as numbers.
        let published = try #require(messages.first { $0.topic.hasSuffix("/waypoint") })
        #expect(!published.isRetained)
        #expect(
            try JSONValue(parsing: published.payload)
                == (try JSONValue(
                    parsing: waypoint.replacing("\"50\"", with: "50").replacing("\"1385997757\"", with: "1385997757"))))
    }

    @Test func `A waypoint that is published has the time of its creation (Regions page)`() throws {
        var house = try GatewayHarness("publishWaypoints: true")
        house.setWaypoints(GatewayHarness.waypoint("Kitchen", rid: "k"))
        let changed = GatewayHarness.waypoint("Cellar", rid: "k").replacing("1600000000", with: "1650000000")
        house.setWaypoints(changed)
        let waypoints = try house.drainMessages().filter { $0.topic.hasSuffix("/waypoint") }.map {
            try JSONValue(parsing: $0.payload)
        }
        #expect(waypoints.map { $0["wtst"] } == [1_600_000_000, 1_600_000_000])
        #expect(waypoints.map { $0["tst"] } == [1_600_000_000, 1_650_000_000])
        #expect(waypoints.map { $0["rid"] } == ["k", "k"])
    }

    @Test func `A local edit changes what was given and nothing else (Regions page)`() throws {
        let reading = try WaypointsReading(
            JSONValue(
                parsing: GatewayHarness.waypoint(
                    "Kitchen", rid: "k", more: #","lat":52,"lon":6,"wtst":5,"leaveAfter":30,"mine":[1]"#)))
        guard case .set(let region, _)? = reading.changes.first else { throw WaypointMissing() }
        let edited = region.waypoint(
            changing: [
                "desc": .string("Cellar:\(GatewayHarness.uuid):1:7"), "tst": 9, "rid": "other", "leaveAfter": .null,
            ], base: .auto)
        let wanted = try JSONValue(
            parsing: GatewayHarness.waypoint(
                "Cellar", rid: "k", more: #","lat":52,"lon":6,"rad":0,"wtst":5,"mine":[1]"#))
        #expect(edited == wanted)
    }

    private struct WaypointMissing: Error {}
}
