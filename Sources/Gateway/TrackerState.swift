package import Base
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
    package internal(set) var occupancy: [ExactString: Occupancy] = [:]
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

    /// Whether anything is published unasked of where the tracker is: transitions, locations, states, beacons. In quiet
    /// mode transitions are only recorded, and only locations by hand are published.
    var publishesPresence: Bool { monitoring != .quiet }

    /// Whether `reportLocation` is answered: as in the apps, not in quiet and manual mode.
    var answersReportLocation: Bool { monitoring != .quiet && monitoring != .manual }

    package var topics: Topics { configuration.topics }

    /// Where the tracker is: at the gateway, or after its last leave at its away position, if one is set.
    ///
    /// A location that followed a leave with the gateway's own coordinates would bring the tracker straight back home.
    func position(standing: Position) -> Position {
        guard occupancy.isEmpty, let away = configuration.away else { return standing }
        return away
    }

    /// The regions that the tracker is in, in their order: those that a beacon occupies, and the circles around the
    /// tracker's position.
    func inside(standing: Position) -> [Region] {
        let here = position(standing: standing)
        return (former ?? regions).regions.filter { region in
            occupancy[region.rid] != nil || (here.isKnown && region.contains(here.coordinates))
        }
    }
}
