import Base
import JSON
import Regions
import Testing

@testable import Gateway

/// `clearWaypoints`, which often comes right before the `setWaypoints` that brings the regions back.
@Suite struct ClearingTests {
    private static let clear = #"{"_type":"cmd","action":"clearWaypoints"}"#
    private static let key = "pending clear owntracks/jane/hall"

    /// Kitchen is occupied, Cellar is not.
    private func occupied() throws -> GatewayHarness {
        var house = try GatewayHarness()
        house.setWaypoints(
            GatewayHarness.waypoint("Kitchen", rid: "k") + ","
                + GatewayHarness.waypoint("Cellar", rid: "c", suffix: ":9:9"))
        try house.hear()
        #expect(try house.drainEvents() == ["enter Kitchen"])
        return house
    }

    private func rids(_ house: GatewayHarness) -> [String] { house.gateway.trackers[0].regions.regions.map(\.rid) }

    @Test func `Cleared regions are left a second later, those that nobody was in go at once`() throws {
        var house = try occupied()
        house.command(Self.clear)
        #expect(rids(house) == ["k"])
        #expect(try house.drainEvents() == [])
        house.pass(.milliseconds(999))
        house.handle(.tick)
        #expect(rids(house) == ["k"])
        house.pass(.milliseconds(1))
        house.handle(.tick)
        #expect(try house.drainEvents() == ["leave Kitchen"])
        #expect(rids(house).isEmpty)
        #expect(house.storedValues[Self.key] == nil)
        #expect(house.gateway.nextDeadline == nil)
    }

    @Test func `A region that is back with its rid and beacon within the second stays inside, also by a second list`()
        throws
    {
        var house = try occupied()
        house.command(Self.clear)
        house.setWaypoints(GatewayHarness.waypoint("Cellar", rid: "c", suffix: ":9:9"))
        house.setWaypoints(GatewayHarness.waypoint("Kitchen", rid: "k"))
        #expect(house.storedValues[Self.key] == nil)
        house.wait(5)
        #expect(try house.drainEvents() == [])
        #expect(rids(house) == ["k", "c"])
    }

    @Test func `Back with another beacon it is left, back under another rid it is left and entered`() throws {
        var house = try occupied()
        house.command(Self.clear)
        house.setWaypoints(GatewayHarness.waypoint("Kitchen", rid: "k", suffix: ":1:8"))
        #expect(try house.drainEvents() == ["leave Kitchen"])
        house = try occupied()
        house.command(Self.clear)
        house.setWaypoints(GatewayHarness.waypoint("Kitchen", rid: "other"))
        try house.hear()
        house.wait(1)
        #expect(try house.drainEvents().sorted() == ["enter Kitchen", "leave Kitchen"])
        #expect(rids(house) == ["other"])
    }

    @Test func `The clear and what waits are one decision, and a crash carries it out`() throws {
        var house = try occupied()
        house.command(Self.clear)
        let decision = house.effects
        #expect(decision.contains { if case .regions = $0 { true } else { false } })
        #expect(decision.contains { if case .value(Self.key, _) = $0 { true } else { false } })
        let kept = try #require(house.presenceWhenStored)
        house.begin(with: kept, regions: house.gateway.trackers.map(\.regions), isSameBoot: true)
        #expect(try house.drainEvents() == ["leave Kitchen"])
        #expect(rids(house).isEmpty)
        #expect(house.storedValues[Self.key] == nil)
    }

    @Test func `A crash leaves no region that the configuration brings back`() throws {
        let settings = "waypoints: [\(GatewayHarness.waypoint("Kitchen", rid: "k"))]"
        var house = try GatewayHarness(settings)
        try house.hear()
        house.command(Self.clear)
        #expect(try house.drainEvents() == ["enter Kitchen"])
        try house.restart(settings, after: 1)
        #expect(try house.drainEvents() == [])
        #expect(rids(house) == ["k"])
    }

    @Test func `What waits to be removed is not told on waypoints`() throws {
        var house = try occupied()
        house.command(Self.clear)
        _ = house.drainMessages()
        house.command(#"{"_type":"cmd","action":"waypoints"}"#)
        #expect(house.drainTexts() == [#"owntracks/jane/hall/waypoints {"_type":"waypoints","waypoints":[]}"#])
    }

    @Test func `A removal that matches nothing and a rid that stands twice are told`() throws {
        var house = try occupied()
        house.setWaypoints(
            #"{"_type":"waypoint","tst":5,"desc":"Attic:\#(GatewayHarness.uuid)","lat":-1000000},"#
                + GatewayHarness.waypoint("A", rid: "a", suffix: ":3") + ","
                + GatewayHarness.waypoint("B", rid: "a", suffix: ":3"))
        #expect(house.log.contains { $0.contains("'Attic' deletes nothing") })
        #expect(house.log.contains { $0.contains("waypoint 1 has the same rid, 'a'") })
        house.setWaypoints(#"{"_type":"waypoint","tst":5,"desc":"Cellar:\#(GatewayHarness.uuid):9:9","lat":-1000000}"#)
        #expect(rids(house) == ["k", "a"])
    }
}
