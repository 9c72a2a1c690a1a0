import Base
import Beacon
package import Configuration
package import OwnTracks
package import Regions

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
