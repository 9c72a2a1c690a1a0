package import Base
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

/// Decides which estimates are worth a message: the first of a beacon, then one that differs by more
/// than 20 %, and never two within the interval.
package struct RangingThrottle: Sendable {
    /// The limit of remembered beacons. A sender can invent more; no messages about those are published.
    package static let mostBeacons = 1024
    /// After this silence a beacon counts as new.
    package static let forgetting: Duration = .seconds(60)
    /// The least change that is published, as a share of the last published distance.
    package static let change = 0.2

    private struct Told: Sendable {
        var instant: MonotonicInstant
        var heard: MonotonicInstant
        var distance: Double
    }

    private let interval: Duration
    private var told: [BeaconID: Told] = [:]

    /// - Parameter interval: The least time between two messages about one beacon.
    package init(interval: Duration) { self.interval = interval }

    /// Whether this estimate must be published. If so, it is remembered.
    ///
    /// - Parameters:
    ///   - distance: Metres.
    ///   - now: Never before the previous call's.
    package mutating func admits(_ beacon: BeaconID, distance: Double, at now: MonotonicInstant) -> Bool {
        if let last = told[beacon], last.heard.duration(to: now) < Self.forgetting {
            told[beacon]?.heard = now
            guard last.instant.duration(to: now) >= interval,
                abs(distance - last.distance) > Self.change * last.distance
            else { return false }
        } else if told[beacon] == nil, told.count >= Self.mostBeacons {
            told = told.filter { $0.value.heard.duration(to: now) < Self.forgetting }
            guard told.count < Self.mostBeacons else { return false }
        }
        told[beacon] = Told(instant: now, heard: now, distance: distance)
        return true
    }
}
