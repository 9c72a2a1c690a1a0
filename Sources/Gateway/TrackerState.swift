package import Base
package import Beacon
package import Configuration
package import OwnTracks
package import Regions

/// Who is inside a region, since when and by which beacon.
package struct Occupancy: Hashable, Sendable {
    /// Before the zero of the clock if it is older than the machine's last start, and the start of this program
    /// if nobody knows how much older.
    package let since: MonotonicInstant
    /// Seconds since 1970, where they are known better than by `since`: from before the machine was restarted.
    package let keptTimestamp: Int64?
    package let beacon: BeaconID
    package let rssi: RSSI?

    package init(since: MonotonicInstant, keptTimestamp: Int64? = nil, beacon: BeaconID, rssi: RSSI?) {
        self.since = since
        self.keptTimestamp = keptTimestamp
        self.beacon = beacon
        self.rssi = rssi
    }

    /// Seconds since 1970.
    package func timestamp(by clock: WallClock) -> Int64 { keptTimestamp ?? clock.epochSeconds(at: since) }
}

/// One identity on the radio: its configuration, its regions, who is inside.
package struct TrackerState: Sendable {
    package internal(set) var configuration: TrackerConfiguration
    package internal(set) var regions = RegionSet()
    /// The regions before a change that is being made: what it makes us leave is named by them.
    var former: RegionSet?
    package internal(set) var occupancy: [String: Occupancy] = [:]
    /// The locations that follow the transitions of one second.
    var locations = LocationBurst()
    /// What is published of its transitions; `Name|1|2` regions switch it.
    package internal(set) var monitoring: MonitoringMode

    init(_ configuration: TrackerConfiguration, monitoring: MonitoringMode) {
        self.configuration = configuration
        self.monitoring = monitoring
    }

    /// The same tracker under other settings: everything that it knows stays.
    func reconfigured(_ configuration: TrackerConfiguration, monitoring: MonitoringMode) -> TrackerState {
        var state = self
        state.configuration = configuration
        state.monitoring = monitoring
        return state
    }

    /// Whether transitions are published. In quiet mode they are only recorded.
    var publishesTransitions: Bool { monitoring != .quiet }

    package var topics: Topics { configuration.topics }

    /// Where the tracker is: where the gateway stands, or its away position while nobody is inside and
    /// one is set.
    ///
    /// A location that followed a leave with the gateway's own coordinates would bring the tracker
    /// straight back home.
    func position(standing: Position) -> Position {
        guard occupancy.isEmpty, let away = configuration.away else { return standing }
        return away
    }

    /// The regions somebody is in, in their order, and the circles that the gateway itself stands in.
    func inside(standing: Position) -> [Region] {
        (former ?? regions).regions.filter { region in
            occupancy[region.rid] != nil || (standing.isKnown && region.contains(standing.coordinates))
        }
    }
}
