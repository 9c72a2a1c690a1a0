package import Beacon
package import JSON

/// `_type: beacon`: the distance of a beacon. Topic `/beacon`, never retained.
package struct BeaconRanging: Hashable, Sendable {
    /// Apple's classes of distance; 0 (unknown) is never sent.
    package enum Proximity: Int64, Hashable, Sendable {
        case immediate = 1
        case near = 2
        case far = 3

        /// Apple publishes no limits. Half a metre and three metres correspond to "centimetres", "a couple of metres"
        /// and "further" in its documents.
        package init(distance metres: Double) {
            self = metres < 0.5 ? .immediate : metres <= 3 ? .near : .far
        }
    }

    package var beacon: BeaconID
    package var rssi: RSSI
    /// Metres.
    package var distance: Double
    package var trackerID: String
    /// When the beacon was heard, epoch seconds.
    package var timestamp: Int64
    /// The name of the region that the beacon belongs to.
    package var regionName: String

    package init(
        beacon: BeaconID, rssi: RSSI, distance: Double, trackerID: String, timestamp: Int64, regionName: String
    ) {
        self.beacon = beacon
        self.rssi = rssi
        self.distance = distance
        self.trackerID = trackerID
        self.timestamp = timestamp
        self.regionName = regionName
    }

    package var payload: JSONValue {
        [
            "_type": "beacon", "uuid": .string(beacon.uuid.description),
            "major": .integer(Int64(beacon.major)), "minor": .integer(Int64(beacon.minor)),
            "tst": .integer(timestamp), "acc": .whole(distance), "rssi": .integer(Int64(rssi.dBm)),
            "prox": .integer(Proximity(distance: distance).rawValue), "tid": .string(trackerID),
            "desc": .string(regionName),
        ]
    }
}

/// Metres to a beacon, by the curve that Apple's phones were measured to follow:
/// 0.89976 · (RSSI / measured power)^7.7095 + 0.111, and (RSSI / measured power)^10 nearer than a metre
/// (Radius Networks, from an iPhone 5 and later a Nexus 4).
///
/// - Returns: nil if either value is 0 or above, which no calibrated beacon has.
package func distance(rssi: RSSI, measuredPower: MeasuredPower) -> Double? {
    guard rssi.dBm < 0, measuredPower.dBm < 0 else { return nil }
    let ratio = Double(rssi.dBm) / Double(measuredPower.dBm)
    return ratio < 1 ? power(ratio, 10) : 0.89976 * power(ratio, 7.7095) + 0.111
}
