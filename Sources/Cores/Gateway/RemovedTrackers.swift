import Base
import JSON
import OwnTracks
import Regions

/// What the trackers had that the settings no longer contain, the latest at the end. It decides how much of it is kept.
struct RemovedTrackers: Sendable {
    /// More are forgotten, the earliest first.
    static let most = 1_000

    private var trackers: [RemovedTracker] = []

    var topics: Set<ExactString> { Set(trackers.map { ExactString($0.topic) }) }

    var count: Int { trackers.count }

    var regionCount: Int { trackers.reduce(0) { $0 + $1.regions.regions.count } }

    /// The topics as a JSON array for the store, the latest at the end.
    var topicsBytes: [UInt8] { JSONValue.array(trackers.map { .string($0.topic) }).bytes }

    /// Stores everything.
    var stored: [Gateway.Effect] {
        trackers.flatMap { tracker -> [Gateway.Effect] in
            var effects: [Gateway.Effect] = [.regions(topic: tracker.topic, tracker.regions)]
            if let kept = tracker.monitoring { effects.append(.monitoring(topic: tracker.topic, kept)) }
            effects.append(
                .value(key: AppliedCommands.storeKey(of: tracker.topic), tracker.appliedCommands.bytes))
            return effects
        }
    }

    /// Stores which trackers these are.
    var storedTopics: Gateway.Effect { .value(key: Gateway.removedTopicsKey, topicsBytes) }

    /// Keeps what removed trackers had. It forgets the earliest where there are too many, in the store too.
    ///
    /// - Parameter setting: The setting `monitoring` in force.
    mutating func keep(_ removed: [RemovedTracker], setting: MonitoringMode) -> [Gateway.Effect] {
        trackers += removed
        return forget(max(0, trackers.count - Self.most), setting)
    }

    /// Removes and returns the tracker with this topic.
    mutating func take(_ topic: String) -> RemovedTracker? {
        trackers.firstIndex { $0.topic.hasSameBytes(as: topic) }.map { trackers.remove(at: $0) }
    }

    /// Forgets the earliest until there are at most so many regions, in the store too: those of the present trackers come first.
    ///
    /// - Parameter setting: The setting `monitoring` in force.
    mutating func trim(toRegions most: Int, setting: MonitoringMode) -> [Gateway.Effect] {
        var (count, forgotten) = (regionCount, 0)
        while count > max(0, most), forgotten < trackers.count {
            count -= trackers[forgotten].regions.regions.count
            forgotten += 1
        }
        return forgotten == 0 ? [] : forget(forgotten, setting) + [storedTopics]
    }

    private mutating func forget(_ count: Int, _ setting: MonitoringMode) -> [Gateway.Effect] {
        defer { trackers.removeFirst(count) }
        return trackers.prefix(count).flatMap { TrackerState.forgotten(topic: $0.topic, setting: setting) }
    }
}
