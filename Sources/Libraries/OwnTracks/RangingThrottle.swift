package import Base
package import Beacon

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
