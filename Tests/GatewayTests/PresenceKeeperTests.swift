import Base
import Configuration
import Presence
import Testing

@testable import Gateway

/// When presence is stored whole, and when as a change.
@Suite struct PresenceKeeperTests {
    private var fixture: PartsFixture
    private var keeper = PresenceKeeper()
    private var engine = PresenceEngine()
    private var sightings: UInt64 = 0

    init() throws {
        fixture = try PartsFixture(regions: 300)
        _ = engine.handle(
            .regions(fixture.trackers.monitoredRegions(by: fixture.settings, phones: [])), at: .zero)
    }

    private mutating func update() -> PresenceUpdate {
        keeper.update(
            of: fixture.trackers, &engine, sightings: sightings, by: fixture.clock, at: PartsFixture.at(1))
    }

    private mutating func enter(_ number: Int) throws {
        let transition = try fixture.transition(number)
        _ = fixture.trackers.apply(transition, standing: fixture.settings.position, at: PartsFixture.at(1))
        keeper.recordChange(of: transition.key)
    }

    private mutating func isWhole() -> Bool { if case .whole = update() { true } else { false } }

    @Test mutating func `The first is the whole state, and then each transition is a change`() throws {
        try enter(0)
        guard case .whole(let whole) = update() else {
            Issue.record("the first is a change")
            return
        }
        try enter(1)
        guard case .change(let change) = update() else {
            Issue.record("the second is whole")
            return
        }
        let kept = try #require(KeptPresence(bytes: whole, changes: [change]))
        #expect(kept.occupancies.map(\.rid) == ["r0", "r1"])
        #expect(kept.trackers == fixture.trackers.topics)
    }

    @Test mutating func `The whole state follows after 255 changes, and where more than transitions changed`() throws {
        #expect(isWhole())
        for _ in 0..<255 { #expect(!isWhole()) }
        #expect(isWhole())
        #expect(!isWhole())
        keeper.needsWhole()
        #expect(isWhole())
    }

    @Test mutating func `More than 256 regions at once are stored as the whole state`() throws {
        #expect(isWhole())
        for number in 0..<256 { try enter(number) }
        #expect(!isWhole())
        for number in 0..<257 { try enter(number) }
        #expect(isWhole())
    }

    @Test mutating func `A checkpoint of an empty house where nothing is heard writes nothing`() throws {
        func checkpoint(_ tests: inout Self) -> Int {
            tests.keeper.checkpoint(
                of: tests.fixture.trackers, &tests.engine, sightings: tests.sightings, by: tests.fixture.clock,
                at: PartsFixture.at(1)
            ).count
        }
        #expect(checkpoint(&self) == 1)
        #expect(checkpoint(&self) == 0)
        sightings += 1
        #expect(checkpoint(&self) == 1)
        keeper.needsWhole()
        #expect(checkpoint(&self) == 1)
        try enter(0)
        #expect(checkpoint(&self) == 1)
        #expect(checkpoint(&self) == 1)
    }
}
