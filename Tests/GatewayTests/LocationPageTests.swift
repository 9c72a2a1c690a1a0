import Base
import Configuration
import JSON
import OwnTracks
import Regions
import Testing

@testable import Gateway

/// Sentences of the Location page.
@Suite struct LocationPageTests {
    private static func locations(_ house: inout GatewayHarness) throws -> [JSONValue] {
        try house.drainMessages().filter { $0.kind == .location }.map { try JSONValue(parsing: $0.payload) }
    }

    @Test func `A tag goes into every location until it is taken away (Location page)`() throws {
        let members = #"_type: "configuration", username: "jane", deviceId: "hall", leaveAfter: 60, lat: 52, lon: 6"#
        var house = try GatewayHarness("lat: 52, lon: 6, tag: \"Spain 2023\"")
        house.setWaypoints(GatewayHarness.waypoint("Kitchen", rid: "k"))
        try house.hear()
        house.command(#"{"_type":"cmd","action":"reportLocation"}"#)
        #expect(try Self.locations(&house).map { $0["tag"] } == ["Spain 2023", "Spain 2023"])
        house.handle(.configuration(try Configuration(parsing: Array("{\(members)}".utf8), hostName: "test")))
        house.command(#"{"_type":"cmd","action":"reportLocation"}"#)
        #expect(try Self.locations(&house).map { $0["tag"] } == [nil])
    }

    @Test func `A point of interest goes into one location (Location page)`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6")
        for poi in ["delicious seafood", nil] {
            house.handle(.request(.reportLocation(tracker: 0, pointOfInterest: poi)))
        }
        let told = try Self.locations(&house)
        #expect(told.map { $0["poi"] } == ["delicious seafood", nil])
        #expect(told.map { $0["t"] } == ["u", "u"])
    }

    @Test func `In manual mode a location is reported by hand (Location page)`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6, monitoring: 0")
        house.handle(.request(.reportLocation(tracker: 0, pointOfInterest: nil)))
        #expect(try Self.locations(&house).map { $0["t"] } == ["u"])
    }

    @Test(arguments: [0, 1, 2])
    func `Region events are the same in manual, significant and move mode (Location page)`(mode: Int) throws {
        var house = try GatewayHarness("monitoring: \(mode)")
        house.setWaypoints(GatewayHarness.waypoint("Kitchen", rid: "k"))
        try house.hear()
        house.wait(61)
        #expect(try house.drainEvents() == ["enter Kitchen", "leave Kitchen"])
    }
}
