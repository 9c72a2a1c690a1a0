import Base
import Beacon
import Configuration
import OwnTracks
import Presence
import Regions

/// Which sightings are told as OwnTracks' beacon messages, and of which regions: those of the setting `ranging`, as often as the
/// throttle allows.
struct Ranging: Sendable {
    /// A sighting that is told.
    struct Heard: Hashable {
        let beacon: BeaconID
        let rssi: RSSI
        /// Metres.
        let distance: Double
        /// The regions that the beacon belongs to.
        let regions: [RegionKey]
    }

    private var throttle: RangingThrottle
    private var keys: [RegionKey] = []
    /// Presence has an index of its own.
    private var index = RegionIndex([])

    init(by settings: Configuration) { throttle = RangingThrottle(interval: settings.rangingInterval) }

    /// Other regions are in force.
    ///
    /// - Parameter monitored: Empty while nothing is told.
    mutating func replaceRegions(by monitored: [MonitoredRegion]) {
        keys = monitored.map(\.key)
        index = RegionIndex(monitored.map(\.pattern))
    }

    /// - Returns: nil if the sighting is not told.
    mutating func hear(_ sighting: Sighting, at now: MonotonicInstant) -> Heard? {
        var matches: [Int32] = []
        index.forEachMatch(of: sighting.beacon) { matches.append($0) }
        guard !matches.isEmpty, let rssi = sighting.rssi,
            let metres = distance(rssi: rssi, measuredPower: sighting.measuredPower),
            throttle.admits(sighting.beacon, distance: metres, at: now)
        else { return nil }
        return Heard(
            beacon: sighting.beacon, rssi: rssi, distance: metres, regions: matches.map { keys[Int($0)] })
    }
}
