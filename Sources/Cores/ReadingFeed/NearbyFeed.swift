import Base
import Beacon

/// Collects beacons that are not tags while the page of the rooms service asks for them, so that one can become a tag.
///
/// Otherwise it costs one comparison for each packet of an unknown beacon. Memory is bounded even with invented beacons: the
/// first ones heard in a second count.
struct NearbyFeed: Sendable {
    /// Largest number of beacons in the message of a second: the strongest.
    static let mostReported = 20
    /// Largest number of beacons that are remembered in a second.
    private static let mostHeard = 256
    /// Longest time for which one request is valid.
    static let longest: Duration = .seconds(300)

    private var until: MonotonicInstant?
    private var heard: [BeaconID: NearbyBeacon] = [:]

    /// Whether there is nothing to report for the current second.
    var isEmpty: Bool { heard.isEmpty }

    /// Collects beacons for this time from now on. Zero ends the collection.
    mutating func collect(for duration: Duration, at now: MonotonicInstant) {
        until = duration > .zero ? now.advanced(by: min(duration, Self.longest)) : nil
        if until == nil { heard = [:] }
    }

    mutating func add(_ sighting: Sighting) {
        guard until != nil, heard[sighting.beacon] != nil || heard.count < Self.mostHeard else { return }
        var beacon = heard[sighting.beacon] ?? NearbyBeacon(beacon: sighting.beacon, power: sighting.measuredPower)
        beacon.count += 1
        beacon.power = sighting.measuredPower
        if let level = sighting.rssi?.dBm { beacon.level = max(beacon.level ?? level, level) }
        heard[sighting.beacon] = beacon
    }

    /// Ends the second.
    ///
    /// - Returns: The strongest beacons, the strongest first.
    mutating func finish(at end: MonotonicInstant) -> [NearbyBeacon] {
        guard let until else { return [] }
        if end >= until { self.until = nil }
        guard !heard.isEmpty else { return [] }
        let sorted = heard.values.sorted { left, right in
            if left.level != right.level { return (left.level ?? .min) > (right.level ?? .min) }
            return (left.beacon.major, left.beacon.minor) < (right.beacon.major, right.beacon.minor)
        }
        heard = [:]
        return Array(sorted.prefix(Self.mostReported))
    }
}
