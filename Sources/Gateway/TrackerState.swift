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
    /// The regions that a beacon occupies.
    package internal(set) var occupancy: [ExactString: Occupancy] = [:]
    /// The circles that the tracker is in.
    package internal(set) var circles: [ExactString: CircleStay] = [:]
    /// `rid`s of the same circles, as decided: a decision may wait for its turn to be carried out.
    var decidedCircles: Set<ExactString> = []
    /// The locations that follow the transitions of one second.
    var locations = LocationBurst()
    /// When a location of it was published last, or it was begun with.
    var lastLocation = MonotonicInstant.zero
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
    package var publishesPresence: Bool { monitoring != .quiet }

    /// Whether `reportLocation` is answered: as in the apps, not in quiet and manual mode.
    var answersReportLocation: Bool { monitoring != .quiet && monitoring != .manual }

    /// Whether locations are published by themselves, as time passes.
    private var publishesPeriodically: Bool { monitoring == .significant || monitoring == .move }

    /// When its next periodic location is due; nil: there is none.
    func periodicLocationDue(by settings: Configuration) -> MonotonicInstant? {
        guard publishesPeriodically, position(standing: settings.position).isKnown else { return nil }
        var interval = settings.ping
        if monitoring == .move, !(occupancy.isEmpty && circles.isEmpty), let other = settings.locatorInterval {
            interval = min(other, interval ?? other)
        }
        return interval.map { lastLocation.advanced(by: $0) }
    }

    package var topics: Topics { configuration.topics }

    /// Where the tracker is: at the gateway, or after its last leave at its away position, if one is set.
    ///
    /// A location that followed a leave with the gateway's own coordinates would bring the tracker straight back home.
    func position(standing: Position) -> Position {
        guard occupancy.isEmpty, let away = configuration.away else { return standing }
        return away
    }

    /// The regions that the tracker is in, in their order, as many as a location lists: those that a beacon occupies, and
    /// the circles around the tracker's position.
    ///
    /// In a crowd 32 locations follow one another, and it would take longer to look through all regions for each than
    /// to do all the rest.
    func inside(standing: Position) -> [Region] {
        guard let former else {
            let most = Location.mostRegions
            // Few are looked up; of many the first are soon found.
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
        // Presence still knows the old regions by their names; circles are where they are now.
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
