package import Base
package import Beacon
package import Gateway
import Health
import JSON
import OwnTracks

extension StatusSnapshot {
    /// One beacon heard in the last minutes.
    package struct BeaconState: Sendable {
        package var id: BeaconID
        package var measuredPower: MeasuredPower
        package var rssi: RSSI?
        /// Metres, estimated from the measured power.
        package var distance: Double?
        /// The usual gap between two sightings; nil until it is known.
        package var interval: Duration?
        package var lastHeard: MonotonicInstant
        package var sightings: UInt64
        /// The strongest signal in each step of `BeaconLog.step`, the oldest first; nil if not heard.
        package var series: [RSSI?]
        /// The names of the regions that the beacon belongs to; of very many some.
        package var regions: [String]
        /// The number of regions that the beacon belongs to.
        package var regionCount: Int
        /// The gateway of the site that sends it; nil: none does.
        package var gateway: String?
        /// nil if the battery was not read since the start or the beacon belongs to no region.
        package var battery: BatteryState?

        package init(
            id: BeaconID, measuredPower: MeasuredPower, rssi: RSSI?, distance: Double? = nil, interval: Duration? = nil,
            lastHeard: MonotonicInstant, sightings: UInt64 = 1, series: [RSSI?] = [], regions: [String] = []
        ) {
            self.id = id
            self.measuredPower = measuredPower
            self.rssi = rssi
            self.distance = distance
            self.interval = interval
            self.lastHeard = lastHeard
            self.sightings = sightings
            self.series = series
            self.regions = regions
            regionCount = regions.count
        }
    }
}

extension StatusSnapshot.BeaconState {
    func json(at now: MonotonicInstant) -> JSONValue {
        [
            "uuid": .string("\(id.uuid)"), "major": .integer(Int64(id.major)), "minor": .integer(Int64(id.minor)),
            "measuredPower": .integer(Int64(measuredPower.dBm)),
            "rssi": .optional(rssi.map { .integer(Int64($0.dBm)) }),
            "distance": .optional(distance.map { .tenths($0) }),
            "interval": .optional(interval.map { .hundredths($0.inSeconds) }), "heardAgo": .ago(lastHeard, at: now),
            "sightings": .count(sightings),
            // One string instead of thirty values, because it is sent to each client every second.
            "series": .string(series.map { $0.map { "\($0.dBm)" } ?? "" }.joined(separator: ",")),
            "regions": .array(regions.map { .shown($0) }), "regionCount": .integer(Int64(regionCount)),
            "gateway": .optional(gateway.map { .shown($0) }),
            "battery": .optional(battery.map { $0.json(at: now) }),
        ]
    }
}
