import Base
import JSON
import Testing

@testable import Gateway

/// Where a tracker is: at the gateway, or at its away position after its last leave. All that is published of its
/// place follows.
@Suite struct TrackerPositionTests {
    private static let regions =
        GatewayHarness.waypoint("Kitchen", rid: "k") + "," + GatewayHarness.waypoint("Hall", rid: "h", suffix: ":1:8")
        + #",{"_type":"waypoint","tst":1,"rid":"home","desc":"Home","lat":52,"lon":6,"rad":100}"#
        + #",{"_type":"waypoint","tst":2,"rid":"far","desc":"Far","lat":1,"lon":2,"rad":100}"#

    private func house() throws -> GatewayHarness {
        try GatewayHarness("lat: 52, lon: 6, away: {lat: 1, lon: 2}, waypoints: [\(Self.regions)]")
    }

    /// The last that follows no circle, which is crossed after the beacon's transition.
    private func lastLocation(_ house: inout GatewayHarness) throws -> JSONValue {
        let locations = try locations(&house)
        return try #require(locations.last { $0["t"] != "c" })
    }

    private func locations(_ house: inout GatewayHarness) throws -> [JSONValue] {
        try house.drainMessages().filter { $0.kind == .location }.map { try JSONValue(parsing: $0.payload) }
    }

    @Test func `Inside a region a tracker is at the gateway, with the circles around it`() throws {
        var house = try house()
        try house.hear()
        let location = try lastLocation(&house)
        #expect((location["lat"], location["lon"]) == (52, 6))
        #expect(location["inregions"] == ["Kitchen", "Home"])
        #expect((location["event"], location["desc"]) == ("enter", "Kitchen"))
    }

    @Test func `After its last leave it is away, with the circles around its away position`() throws {
        var house = try house()
        try house.hear()
        house.wait(61)
        let location = try lastLocation(&house)
        #expect((location["lat"], location["lon"]) == (1, 2))
        #expect(location["inregions"] == ["Far"])
        #expect((location["event"], location["desc"]) == ("leave", "Kitchen"))
    }

    @Test func `A tracker whose last region is removed is away, with the circles around its away position`() throws {
        var house = try house()
        try house.hear()
        house.setWaypoints(#"{"_type":"waypoint","tst":1,"rid":"k","desc":"Kitchen","lat":100,"lon":500}"#)
        let location = try lastLocation(&house)
        #expect((location["lat"], location["lon"]) == (1, 2))
        #expect(location["inregions"] == ["Far"])
        #expect((location["event"], location["desc"]) == ("leave", "Kitchen"))
    }

    @Test func `A leave that is not its last leaves it at the gateway`() throws {
        var house = try house()
        try house.hear()
        for _ in 0..<7 {
            try house.hear(minor: 8)
            house.wait(10)
        }
        let location = try lastLocation(&house)
        #expect((location["lat"], location["lon"]) == (52, 6))
        #expect(location["inregions"] == ["Hall", "Home"])
    }

    @Test func `A location that is asked for does not bring it home`() throws {
        var house = try house()
        try house.hear()
        house.wait(61)
        house.command(#"{"_type":"cmd","action":"reportLocation"}"#)
        #expect(try lastLocation(&house)["inregions"] == ["Far"])
    }

    @Test func `A tracker that leaves its last two regions at once is away in both locations and not back in between`()
        throws
    {
        var house = try GatewayHarness(
            "lat: 52, lon: 6, away: {lat: 1, lon: 2}, waypoints: [\(GatewayHarness.waypoint("Home", rid: "h")),"
                + "\(GatewayHarness.waypoint("Anna", rid: "a"))]")
        try house.hear()
        let entered = try locations(&house)
        #expect(entered.map { $0["desc"] } == ["Home", "Anna"])
        #expect(entered.map { $0["inregions"] } == [["Home", "Anna"], ["Home", "Anna"]])
        house.wait(61)
        let left = try locations(&house)
        #expect(left.map { $0["desc"] } == ["Home", "Anna"])
        #expect(left.map { $0["lat"] } == [1, 1])
        #expect(left.map { $0["inregions"] } == [[], []])
    }

    @Test func `A location that many transitions share names none of them`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6")
        house.setWaypoints(
            (0..<40).map { GatewayHarness.waypoint("R\($0)", rid: "r\($0)", suffix: ":1:\($0 + 1)") }
                .joined(separator: ","))
        house.wait(1)
        for minor: UInt16 in 1...40 { try house.hear(minor: minor) }
        house.wait(1)
        let location = try lastLocation(&house)
        #expect(location["inregions"]?.array?.count == 40)
        #expect((location["event"], location["desc"]) == (nil, nil))
    }
}
