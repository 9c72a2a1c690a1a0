import Base
import JSON
package import OwnTracks
package import Regions

/// What a tracker had that the settings no longer contain. The store has its regions and its mode, too. All of it comes
/// back with settings that name its topic again.
package struct RemovedTracker: Sendable {
    /// The base topic under which its state is stored.
    let topic: String
    let regions: RegionSet
    let monitoring: KeptMonitoring?
    let appliedCommands: AppliedCommands
    /// The regions that a beacon occupied. No leave of them was published.
    let occupancy: [ExactString: Occupancy]
    /// The circles that the tracker was in.
    let circles: [ExactString: OccupancyBegin]
    /// Since when the regions that were left are empty.
    let absences: [ExactString: OccupancyBegin]

    /// A tracker that was removed before the start of this program.
    ///
    /// - Parameters:
    ///   - topic: The base topic under which its state is stored.
    ///   - monitoring: nil: none is stored.
    package init(
        topic: String, regions: RegionSet, monitoring: KeptMonitoring?, appliedCommands: AppliedCommands
    ) {
        (self.topic, self.regions) = (topic, regions)
        (self.monitoring, self.appliedCommands) = (monitoring, appliedCommands)
        (occupancy, circles, absences) = ([:], [:], [:])
    }

    /// - Parameter setting: The setting `monitoring` that was in force with the tracker.
    init(_ tracker: TrackerState, setting: MonitoringMode) {
        topic = tracker.topics.base
        regions = tracker.regions
        monitoring = KeptMonitoring(tracker.monitoring, setting: setting)
        appliedCommands = tracker.appliedCommands
        occupancy = tracker.occupancy
        circles = tracker.circles
        absences = tracker.absences
    }
}

/// The trackers that were removed, the latest at the end.
struct RemovedTrackers: Sendable {
    /// More are forgotten, the earliest first.
    static let most = 1_000

    private(set) var trackers: [RemovedTracker] = []

    var topics: Set<ExactString> { Set(trackers.map { ExactString($0.topic) }) }

    var regionCount: Int { trackers.reduce(0) { $0 + $1.regions.regions.count } }

    /// The topics as a JSON array for the store, the latest at the end.
    var topicsBytes: [UInt8] { JSONValue.array(trackers.map { .string($0.topic) }).bytes }

    /// - Returns: The topics of those that were forgotten.
    mutating func keep(_ removed: [RemovedTracker]) -> [String] {
        trackers += removed
        return forget(max(0, trackers.count - Self.most))
    }

    /// Removes and returns the tracker with this topic.
    mutating func take(_ topic: String) -> RemovedTracker? {
        trackers.firstIndex { $0.topic.hasSameBytes(as: topic) }.map { trackers.remove(at: $0) }
    }

    /// Forgets the earliest until there are at most so many regions: those of the present trackers come first.
    ///
    /// - Returns: The topics of those that were forgotten.
    mutating func trim(toRegions most: Int) -> [String] {
        var (count, forgotten) = (regionCount, 0)
        while count > max(0, most), forgotten < trackers.count {
            count -= trackers[forgotten].regions.regions.count
            forgotten += 1
        }
        return forget(forgotten)
    }

    private mutating func forget(_ count: Int) -> [String] {
        defer { trackers.removeFirst(count) }
        return trackers.prefix(count).map(\.topic)
    }
}
