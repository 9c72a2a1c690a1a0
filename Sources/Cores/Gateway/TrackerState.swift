package import Base
package import Configuration
package import OwnTracks
package import Regions

/// One identity on the radio: its configuration, its regions, and which of them are occupied.
package struct TrackerState: Sendable {
    package internal(set) var configuration: TrackerConfiguration
    package internal(set) var regions = RegionSet()
    /// The previous regions, during a change: transitions that the change causes use their names.
    var former: RegionSet?
    /// The regions that a beacon occupies.
    package internal(set) var occupancy: [ExactString: Occupancy] = [:]
    /// The circles that the tracker is in.
    package internal(set) var circles: [ExactString: OccupancyBegin] = [:]
    /// Since when the beacon regions that were left are empty. Of a region that was never occupied nothing is known.
    var absences: [ExactString: OccupancyBegin] = [:]
    /// `rid`s of the circles as decided. The decision may not be carried out yet.
    var decidedCircles: Set<ExactString> = []
    /// The locations that follow the transitions of one second.
    var locations = LocationBurst()
    /// The regions that a `clearWaypoints` is about to remove.
    var pendingClear: PendingClear?
    /// Commands that the broker may send again because it retains them.
    var appliedCommands = AppliedCommands()
    /// When the tracker's location was published last, or when the tracker was created.
    var lastLocation = MonotonicInstant.zero
    /// The monitoring mode in force; `Name|1|2` regions switch it.
    package internal(set) var monitoring: MonitoringMode

    init(_ configuration: TrackerConfiguration, monitoring: MonitoringMode) {
        self.configuration = configuration
        self.monitoring = monitoring
    }

    /// A tracker that the settings contain again, with what it had.
    init(_ configuration: TrackerConfiguration, monitoring setting: MonitoringMode, continuing removed: RemovedTracker)
    {
        self.init(configuration, monitoring: removed.monitoring?.mode(for: setting) ?? setting)
        regions = removed.regions
        occupancy = removed.occupancy
        circles = removed.circles
        absences = removed.absences
        decidedCircles = Set(removed.circles.keys)
        appliedCommands = removed.appliedCommands
    }

    /// The same tracker with other settings. Its state stays.
    func reconfigured(_ configuration: TrackerConfiguration, monitoring: MonitoringMode) -> TrackerState {
        var state = self
        state.configuration = configuration
        state.monitoring = monitoring
        return state
    }

    /// When the next periodic location is due; nil: there is none.
    func periodicLocationDue(by settings: Configuration) -> MonotonicInstant? {
        guard monitoring.publishes(.location(.periodic)), position(standing: settings.position).isKnown else {
            return nil
        }
        var interval = settings.ping
        if monitoring == .move, !(occupancy.isEmpty && circles.isEmpty), let other = settings.locatorInterval {
            interval = min(other, interval ?? other)
        }
        return interval.map { lastLocation.advanced(by: $0) }
    }

    package var topics: Topics { configuration.topics }

    /// Since when a region is occupied, or the tracker is inside a circle; nil: neither.
    func begin(of rid: String) -> OccupancyBegin? { occupancy[rid]?.begin ?? circles[rid] }

    /// Forgets the absences of regions that are no more.
    mutating func forgetAbsences() {
        guard !absences.isEmpty else { return }
        absences = absences.filter { regions[rid: $0.key.text]?.isBeacon == true }
    }

    /// Expresses the begins of occupancies and absences by the wall clock, if it is known.
    mutating func makeBeginsExact(by clock: WallClock, at now: MonotonicInstant) {
        occupancy = occupancy.mapValues { occupancy in
            Occupancy(occupancy.begin.exact(by: clock, at: now), beacon: occupancy.beacon, rssi: occupancy.rssi)
        }
        circles = circles.mapValues { $0.exact(by: clock, at: now) }
        absences = absences.mapValues { $0.exact(by: clock, at: now) }
    }

    /// The position of the tracker: the gateway's, or, while no beacon is near, the away position if one is set.
    ///
    /// After a leave, a location with the gateway's own coordinates would move the tracker back home.
    func position(standing: Position) -> Position {
        guard occupancy.isEmpty, let away = configuration.away else { return standing }
        return away
    }

    /// The regions that the tracker is in, in their order, at most as many as a location lists: the regions that a
    /// beacon occupies, and the circles around the tracker's position.
    ///
    /// In a crowd 32 locations follow one another. A search through all regions for each of them would take longer than
    /// all other work.
    func inside(standing: Position) -> [Region] {
        guard let former else {
            let most = Location.mostRegions
            // A few regions are looked up by `rid`. Of many, the first are found soon.
            guard occupancy.count + decidedCircles.count > most else {
                return regions.inOrder(decidedCircles.union(occupancy.keys)).filter { $0.kind != .follow }
            }
            var inside: [Region] = []
            for region in regions.regions where inside.count < most {
                let rid = ExactString(region.rid)
                guard occupancy[rid] != nil || decidedCircles.contains(rid) else { continue }
                if region.kind != .follow { inside.append(region) }
            }
            return inside
        }
        let here = position(standing: standing)
        // The occupancy still refers to the old regions; circles are the new ones.
        let occupied = former.regions.lazy.filter { occupancy[$0.rid] != nil && !isAround(here, $0) }
        let around = regions.regions.lazy.filter { isAround(here, $0) }
        let inside = Array(occupied.prefix(Location.mostRegions)) + around.prefix(Location.mostRegions)
        return Array(inside.prefix(Location.mostRegions))
    }

    /// Whether a region is a circle around a position.
    private func isAround(_ place: Position, _ region: Region) -> Bool {
        place.isKnown && region.contains(place.coordinates)
    }
}
