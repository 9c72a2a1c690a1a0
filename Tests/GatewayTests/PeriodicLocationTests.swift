import Base
import JSON
import OwnTracks
import Regions
import Testing

@testable import Gateway

/// Locations that are published as time passes.
@Suite struct PeriodicLocationTests {
    /// Seconds of virtual time at which each location was published, with its trigger.
    private func locations(_ house: inout GatewayHarness) throws -> [String] {
        try house.drainMessages().filter { $0.kind == .location || $0.kind == .ping }.map { message in
            let json = try JSONValue(parsing: message.payload)
            let seconds = (json["tst"]?.asInteger ?? 0) - GatewayHarness.epoch
            return "\(json["t"]?.string ?? "?")\(seconds)"
        }
    }

    private static let kitchen = "waypoints: [\(GatewayHarness.waypoint("Kitchen", rid: "k"))]"

    @Test func `A ping is published once in a while, every 15 minutes if nothing is set (Location page)`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6")
        house.wait(45 * 60)
        #expect(try locations(&house) == ["p900", "p1800", "p2700"])
    }

    @Test func `ping is in minutes, and 0 is off`() throws {
        var often = try GatewayHarness("lat: 52, lon: 6, ping: 1")
        often.wait(150)
        #expect(try locations(&often) == ["p60", "p120"])
        var never = try GatewayHarness("lat: 52, lon: 6, ping: 0")
        never.wait(86_400)
        #expect(try locations(&never) == [])
        #expect(never.gateway.nextDeadline == nil)
    }

    @Test func `A ping is retained as other locations are, and may give way to a newer one`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6, ping: 1")
        house.wait(60)
        let ping = try #require(house.drainMessages().last)
        #expect((ping.kind, ping.topic, ping.isRetained) == (.ping, "owntracks/jane/hall", true))
    }

    @Test func `A location is recorded for the history, with its place, trigger and time`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6")
        house.wait(900)
        let records = house.effects.compactMap { if case .recordLocation(let record) = $0 { record } else { nil } }
        #expect(records.map(\.trigger) == ["p"])
        #expect(records.map(\.timestamp) == [GatewayHarness.epoch + 900])
        #expect(records.map(\.coordinates.latitude) == [52])
    }

    @Test func `A location of another cause puts the next ping off`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6, ping: 1, leaveAfter: 600, \(Self.kitchen)")
        house.wait(40)
        try house.hear()
        house.wait(59)
        #expect(try locations(&house) == ["b40"])
        house.wait(1)
        #expect(try locations(&house) == ["p100"])
    }

    @Test func `In move mode a location is published every locatorInterval while inside a region (Location page)`()
        throws
    {
        let settings = "lat: 52, lon: 6, monitoring: 2, locatorInterval: 100, leaveAfter: 250, \(Self.kitchen)"
        var house = try GatewayHarness(settings)
        house.wait(10)
        try house.hear()
        house.wait(400)
        // After the leave the ping alone is left.
        #expect(try locations(&house) == ["b10", "p110", "p210", "b260"])
        house.wait(900)
        #expect(try locations(&house) == ["p1160"])
    }

    @Test func `locatorInterval is five minutes if nothing is set (Location page)`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6, monitoring: 2, leaveAfter: 3600, \(Self.kitchen)")
        try house.hear()
        house.wait(601)
        #expect(try locations(&house) == ["b0", "p300", "p600"])
    }

    @Test(arguments: [-1, 0])
    func `In quiet and in manual mode no location goes by itself (Location page)`(mode: Int) throws {
        var house = try GatewayHarness("lat: 52, lon: 6, monitoring: \(mode), locatorInterval: 1, ping: 1")
        house.wait(3600)
        #expect(try locations(&house) == [])
    }

    @Test func `In significant mode locatorInterval means nothing`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6, locatorInterval: 1, leaveAfter: 3600, \(Self.kitchen)")
        try house.hear()
        house.wait(899)
        #expect(try locations(&house) == ["b0"])
    }

    @Test func `Where no place is set there is no ping`() throws {
        var house = try GatewayHarness("ping: 1")
        house.wait(3600)
        #expect(try locations(&house) == [])
    }

    @Test func `A ping does not bring a tracker home that is away`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6, away: {lat: 1, lon: 2}, ping: 5, \(Self.kitchen)")
        try house.hear()
        house.wait(400)
        let ping = try #require(house.drainMessages().last { $0.kind == .ping })
        let location = try JSONValue(parsing: ping.payload)
        #expect((location["lat"], location["lon"]) == (1, 2))
        #expect(location["inregions"] == [])
    }

    @Test func `After a long absence there is one ping and not one for each that was missed`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6, ping: 1")
        house.sleep(3600)
        house.wait(1)
        #expect(try locations(&house) == ["p3600"])
    }

    @Test func `Each tracker has pings of its own`() throws {
        var house = try GatewayHarness("lat: 52, lon: 6, ping: 1, trackers: [{deviceId: \"keys\"}]")
        house.wait(60)
        let topics = house.drainMessages().filter { $0.kind == .ping }.map(\.topic)
        #expect(topics == ["owntracks/jane/hall", "owntracks/jane/keys"])
    }
}
