import Base
import Presence
import Testing

@testable import Gateway

/// In which turns transitions are carried out.
@Suite struct TransitionsTests {
    @Test func `A turn changes all its trackers, and the rest waits`() throws {
        var fixture = try PartsFixture(regions: 150)
        var transitions = Transitions()
        transitions.add(try (0..<150).map { try fixture.transition($0) })
        #expect(transitions.begin(changing: &fixture.trackers, by: fixture.messages(at: 1)).count == 100)
        #expect(fixture.trackers[0].occupancy.count == 100)
        #expect(transitions.begin(changing: &fixture.trackers, by: fixture.messages(at: 1)).isEmpty)
        let due = try #require(transitions.due)
        #expect(due > PartsFixture.at(1))
        #expect(transitions.nextIfDue(changing: &fixture.trackers, by: fixture.messages(at: 1)).isEmpty)
        #expect(transitions.nextIfDue(changing: &fixture.trackers, by: fixture.messages(at: 2)).count == 50)
        #expect(transitions.due == nil && fixture.trackers[0].occupancy.count == 150)
    }

    @Test func `A tracker that comes home crosses circles in the same turn`() throws {
        var fixture = try PartsFixture(regions: 1, "lat: 52, lon: 6, away: {lat: 1, lon: 2}")
        try fixture.addCircle("home")
        var transitions = Transitions()
        transitions.add([try fixture.transition(0)])
        let carried = transitions.begin(changing: &fixture.trackers, by: fixture.messages(at: 1))
        #expect(carried.map(\.key.rid) == ["r0", "home"])
        #expect(fixture.trackers[0].circles.keys.map(\.text) == ["home"])
    }

    @Test func `A transition moves with its tracker, or is dropped with it`() throws {
        var fixture = try PartsFixture(regions: 150)
        var transitions = Transitions()
        transitions.add(try (0..<150).map { try fixture.transition($0) })
        _ = transitions.begin(changing: &fixture.trackers, by: fixture.messages(at: 1))
        var kept = transitions
        kept.moveTrackers(to: [0: 0])
        #expect(kept.due != nil)
        transitions.moveTrackers(to: [:])
        #expect(transitions.due == nil)
    }
}
