package import Base
package import OwnTracks
package import Regions

/// What belonged to a tracker that the settings no longer contain. The store has its regions, its mode and the commands that it applied, too. All of it comes
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
    ///   - regions: As stored.
    ///   - cleared: Those that a `clearWaypoints` was about to remove.
    ///   - monitoring: nil: none is stored.
    package init(
        topic: String, regions: RegionSet, cleared: Set<ExactString> = [], monitoring: KeptMonitoring?,
        appliedCommands: AppliedCommands
    ) {
        self.topic = topic
        self.regions =
            cleared.isEmpty ? regions : RegionSet(regions.regions.filter { !cleared.contains(ExactString($0.rid)) })
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
