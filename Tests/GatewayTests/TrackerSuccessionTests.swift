import Base
import Configuration
import OwnTracks
import Regions
import Testing

@testable import Gateway

/// Which tracker of earlier settings continues as which of new ones.
@Suite struct TrackerSuccessionTests {
    @Test(
        arguments: [
            // What is there stays itself, wherever it stands.
            (["a", "b"], ["b", "a"], [], [1, 0]),
            // A tracker at the same index got another topic.
            (["a", "c"], ["a", "b"], [], [0, 1]),
            // A new tracker at the index of one that is elsewhere continues none.
            (["c", "a"], ["a"], [], [nil, 0]),
            // A tracker that was removed before is itself again.
            (["a", "c"], ["a", "b"], ["c"], [0, nil]),
        ] as [([String], [String], [String], [Int?])])
    func `A tracker continues that of its topic, else that of its position`(
        new: [String], old: [String], removed: [String], expected: [Int?]
    ) {
        #expect(Trackers.origins(of: new, among: old, returning: Set(removed.map { ExactString($0) })) == expected)
    }

    private static func settings(_ trackers: String) throws -> Configuration {
        try GatewayHarness.configuration("trackers: [\(trackers)]")
    }

    private static func succession(
        of trackers: Trackers, from former: Configuration, to new: Configuration, _ removed: inout RemovedTrackers
    ) -> TrackerSuccession {
        TrackerSuccession(
            of: trackers, from: former, to: new, modes: [:], removed: &removed,
            by: WallClock(epochOffset: 0, isKnown: true), at: .zero)
    }

    @Test func `A tracker that is gone is kept, and comes back with what it had`() throws {
        let (both, one) = (try Self.settings("{deviceId: \"bag\"}"), try Self.settings(""))
        var removed = RemovedTrackers()
        var trackers = Trackers(of: both)
        var regions = RegionSet()
        regions.apply(try CrowdTests.regions(2))
        trackers[1].replaceRegions(by: regions)
        trackers[1].endChange()
        let gone = Self.succession(of: trackers, from: both, to: one, &removed)
        #expect(gone.gone.map(\.topic) == ["owntracks/jane/bag"] && gone.newIndices == [0: 0])
        #expect(gone.abandoned.count == 2 && gone.returned.isEmpty)
        _ = removed.keep(gone.gone, setting: one.monitoring)
        let back = Self.succession(of: gone.trackers, from: one, to: both, &removed)
        #expect(back.returned == [1] && back.trackers[1].regions == regions && removed.count == 0)
    }

    @Test func `The same trackers keep their positions, and nothing is stored`() throws {
        let settings = try Self.settings("{deviceId: \"bag\"}")
        var removed = RemovedTrackers()
        let same = Self.succession(of: Trackers(of: settings), from: settings, to: settings, &removed)
        #expect(same.newIndices == nil && same.stored.isEmpty && same.gone.isEmpty && same.abandoned.isEmpty)
        #expect(same.spared == [0, 1])
    }

    @Test func `A tracker with another topic takes along what is stored of it`() throws {
        let (old, new) = (try Self.settings("{deviceId: \"bag\"}"), try Self.settings("{deviceId: \"box\"}"))
        var removed = RemovedTrackers()
        let moved = Self.succession(of: Trackers(of: old), from: old, to: new, &removed)
        let topics = moved.stored.compactMap { effect -> String? in
            if case .regions(let topic, _) = effect { topic } else { nil }
        }
        #expect(topics == ["owntracks/jane/box", "owntracks/jane/bag"])
        #expect(moved.newIndices == nil && moved.gone.isEmpty)
    }
}
