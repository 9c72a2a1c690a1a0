import Base
import Beacon
import SiteProtocol

/// The beacons that gateways hear and that are not tags, while a request of the page lasts.
///
/// Any client with the right to publish can invent beacons. So their number is bounded, and nothing is recorded without
/// a request.
struct NearbyBeacons {
    /// How long a request lasts.
    static let duration: Duration = .seconds(60)
    /// How long the list is kept after that.
    private static let rest: Duration = .seconds(120)
    /// A beacon that was not heard for this time is removed when the next report arrives.
    private static let memory: Duration = .seconds(30)
    /// An older level does not show which gateway is nearest.
    private static let fresh: Duration = .seconds(10)
    private static let mostBeacons = 200
    private static let mostGateways = 8
    /// Largest number of listed beacons. The strongest are listed.
    static let mostListed = 50
    /// Weight of a new second in a level.
    private static let weight: Float = 0.3

    private struct Reception {
        /// dBm, smoothed; nil if no packet had a level.
        var level: Float?
        var last: MonotonicInstant
    }

    private struct Beacon {
        let first: MonotonicInstant
        var region: String?
        var receptions: [String: Reception] = [:]

        var last: MonotonicInstant { receptions.values.map(\.last).max() ?? first }
    }

    /// A beacon at the gateway that hears it best.
    struct Listed: Hashable {
        let beacon: BeaconID
        let gateway: String
        /// dBm
        let level: Float?
        let first: MonotonicInstant
        let last: MonotonicInstant
        /// The name of a region of a gateway that the beacon belongs to.
        let region: String?
    }

    private var until: MonotonicInstant?
    private var beacons: [BeaconID: Beacon] = [:]

    /// Begins or extends a request. An extended request keeps its beacons.
    mutating func begin(at now: MonotonicInstant) {
        if until.map({ $0 <= now }) ?? true { beacons = [:] }
        until = now.advanced(by: Self.duration)
    }

    /// Records the message of a gateway. Without a request it does nothing.
    ///
    /// - Parameter own: What the gateways send themselves, which is not listed.
    mutating func record(
        _ readings: [NearbyReading], of gateway: String, besides own: SurveyBeacons? = nil, at now: MonotonicInstant
    ) {
        // The report of the last second may arrive late.
        guard let until, now <= until.advanced(by: .seconds(3)) else { return }
        beacons = beacons.filter { $0.value.last.duration(to: now) < Self.memory }
        for reading in readings where own?.gateway(sending: reading.beacon) == nil {
            guard beacons[reading.beacon] != nil || beacons.count < Self.mostBeacons else { continue }
            var beacon = beacons[reading.beacon] ?? Beacon(first: now)
            beacon.region = reading.region ?? beacon.region
            let before = beacon.receptions[gateway]
            guard before != nil || beacon.receptions.count < Self.mostGateways else { continue }
            let level = reading.level.map { new in before?.level.map { $0 + Self.weight * (new - $0) } ?? new }
            beacon.receptions[gateway] = Reception(level: level ?? before?.level, last: now)
            beacons[reading.beacon] = beacon
        }
    }

    /// - Returns: The time for which gateways still report, and the beacons, the strongest first; nil without a recent
    ///   request.
    func report(at now: MonotonicInstant) -> (left: Duration, beacons: [Listed])? {
        guard let until, now < until.advanced(by: Self.rest) else { return nil }
        let listed = beacons.compactMap { id, beacon -> Listed? in
            let last = beacon.last
            let recent = beacon.receptions.filter { $0.value.last.duration(to: last) < Self.fresh }
            guard
                let best = recent.max(by: { left, right in
                    let (a, b) = (left.value.level ?? -.infinity, right.value.level ?? -.infinity)
                    return a == b ? left.key > right.key : a < b
                })
            else { return nil }
            return Listed(
                beacon: id, gateway: best.key, level: best.value.level, first: beacon.first, last: last,
                region: beacon.region)
        }.sorted { left, right in
            let (a, b) = (left.level ?? -.infinity, right.level ?? -.infinity)
            return a == b ? "\(left.beacon)" < "\(right.beacon)" : a > b
        }
        return (until > now ? now.duration(to: until) : .zero, Array(listed.prefix(Self.mostListed)))
    }
}
