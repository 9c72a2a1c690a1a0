import Base
import OwnTracks
import Regions
import Testing

@testable import Gateway

/// How much is kept of trackers that the settings no longer contain.
@Suite struct RemovedTrackersTests {
    private static func tracker(_ topic: String, regions: Int = 0) throws -> RemovedTracker {
        RemovedTracker(
            topic: topic,
            regions: RegionSet(
                try CrowdTests.regions(regions).compactMap { change in
                    if case .set(let region, _) = change { region } else { nil }
                }), monitoring: nil, appliedCommands: AppliedCommands())
    }

    private static func emptied(in effects: [Gateway.Effect]) -> [String] {
        effects.compactMap { effect -> String? in
            if case .regions(let topic, let regions) = effect, regions.regions.isEmpty { topic } else { nil }
        }
    }

    @Test func `A tracker is taken out once`() throws {
        var removed = RemovedTrackers()
        #expect(removed.keep([try Self.tracker("a"), try Self.tracker("b")], setting: .significant).isEmpty)
        #expect(removed.take("b")?.topic == "b")
        #expect(removed.take("b") == nil)
        #expect(removed.topics.map(\.text) == ["a"])
    }

    @Test func `The earliest gives way where there are too many regions, in the store too`() throws {
        var removed = RemovedTrackers()
        let kept = [try Self.tracker("a", regions: 3), try Self.tracker("b", regions: 2)]
        _ = removed.keep(kept, setting: .significant)
        #expect(removed.trim(toRegions: 5, setting: .significant).isEmpty)
        #expect(Self.emptied(in: removed.trim(toRegions: 4, setting: .significant)) == ["a"])
        #expect(String(decoding: removed.topicsBytes, as: UTF8.self) == #"["b"]"#)
        #expect(Self.emptied(in: removed.trim(toRegions: -1, setting: .significant)) == ["b"])
    }
}
