import Base
import Configuration
import JSON
import OwnTracks
import Presence
import Regions
import Testing

@testable import Gateway

/// What transitions, clears and modes mean for one tracker.
@Suite struct TrackerStateTests {
    private var fixture: PartsFixture

    init() throws { fixture = try PartsFixture(regions: 3, "lat: 52, lon: 6, away: {lat: 1, lon: 2}") }

    @Test mutating func `An enter occupies a region, and a leave makes it empty since then`() throws {
        fixture.trackers[0].apply(try fixture.transition(0))
        #expect(fixture.trackers[0].occupancy["r0"]?.since == PartsFixture.at(1))
        fixture.trackers[0].apply(try fixture.transition(0, isEnter: false, at: 9))
        #expect(fixture.trackers[0].occupancy.isEmpty)
        #expect(fixture.trackers[0].absences["r0"]?.since == PartsFixture.at(9))
    }

    @Test mutating func `A region that is left because it is removed is not empty since then`() throws {
        let leave = try fixture.transition(0, isEnter: false)
        fixture.trackers[0].apply(try fixture.transition(0))
        fixture.trackers[0].replaceRegions(by: RegionSet())
        fixture.trackers[0].apply(leave)
        #expect(fixture.trackers[0].absences.isEmpty)
    }

    @Test(arguments: [(1, nil), (2, nil), (3, 1_700_000_003)] as [(Int, Int64?)])
    mutating func `A transition that waited for its turn says when its message was made, if more than a second later`(
        second: Int, created: Int64?
    ) throws {
        let (transition, messages) = (try fixture.transition(0, at: 1), fixture.messages(at: second))
        let published = fixture.trackers[0].publish(transition, by: messages).compactMap { effect in
            if case .publish(let message) = effect, message.kind == .transition { message } else { nil }
        }
        let json = try JSONValue(parsing: try #require(published.first).payload)
        #expect(json["tst"] == 1_700_000_001)
        #expect(json["created_at"]?.asInteger == created)
    }

    @Test mutating func `A circle is crossed once`() throws {
        try fixture.addCircle("home")
        let home = fixture.settings.position
        #expect(fixture.trackers[0].crossCircles(standing: home).isEmpty)
        fixture.trackers[0].apply(try fixture.transition(0))
        let entered = fixture.trackers[0].crossCircles(standing: home)
        #expect(entered.map(\.region.rid) == ["home"] && entered.map(\.isEnter) == [true])
        #expect(fixture.trackers[0].crossCircles(standing: home).isEmpty)
        fixture.trackers[0].apply(try fixture.transition(0, isEnter: false))
        #expect(fixture.trackers[0].crossCircles(standing: home).map(\.isEnter) == [false])
    }

    @Test mutating func `A clear leaves the regions that the tracker is inside for a second`() throws {
        fixture.trackers[0].apply(try fixture.transition(0))
        let (stay, difference) = fixture.trackers[0].clear(occupied: ["r1"], at: PartsFixture.at(5))
        #expect(stay.regions.map(\.rid) == ["r0", "r1"] && difference.removed.map(\.rid) == ["r2"])
        #expect(fixture.trackers.clearDue == PartsFixture.at(6))
        #expect(fixture.trackers[0].keep(["r0"]).count == 1 && fixture.trackers[0].keep(["r0"]).isEmpty)
        let finished = fixture.trackers[0].finishClear()
        #expect(finished?.1.removed.map(\.rid) == ["r1"])
        #expect(fixture.trackers[0].finishClear() == nil)
    }

    @Test mutating func `A merge that would make too many regions is refused, and one that only changes some is not`()
        throws
    {
        let new = try CrowdTests.regions(4)
        let merge = fixture.trackers[0].merging(new, total: Gateway.mostRegions, epoch: nil)
        #expect(merge.isRefused && merge.refused == 1 && merge.total == Gateway.mostRegions + 1)
        let same = fixture.trackers[0].merging(Array(new.prefix(3)), total: Gateway.mostRegions + 5, epoch: nil)
        #expect(!same.isRefused && same.refused == 0)
    }

    @Test mutating func `States are withdrawn where a mode withholds them, and announced where it does no longer`()
        throws
    {
        let hidden = fixture.trackers.switchMonitoring(
            of: 0, to: .quiet, by: fixture.settings, at: PartsFixture.at(1))
        let device = fixture.trackers[0].configuration.deviceID
        #expect(
            hidden.announcements
                == (0..<3).map { RegionAnnouncement.withdrawal(device: device, tracker: 0, rid: "r\($0)") })
        #expect(fixture.trackers.hiddenDevices(by: fixture.settings, at: PartsFixture.at(1)).map(\.text) == [device])
        let shown = fixture.trackers.switchMonitoring(of: 0, to: .move, by: fixture.settings, at: PartsFixture.at(1))
        #expect(shown.announcements == (0..<3).map { RegionAnnouncement.state(tracker: 0, rid: "r\($0)") })
        let again = fixture.trackers.switchMonitoring(of: 0, to: .move, by: fixture.settings, at: PartsFixture.at(1))
        #expect(again.stored.isEmpty && again.announcements.isEmpty)
    }
}
