package import Base
package import Beacon

/// The beacons heard in the last minutes with the history of their signals, for the status page.
///
/// Every sighting is recorded here, so one of a known beacon costs one look-up and no allocation. The number of beacons
/// is bounded.
package struct BeaconLog: Sendable {
    /// The time that one point of a series covers.
    package static let step: Duration = .nanoseconds(stepNanoseconds)
    /// A `Duration` has 128 bits; calculating with it took nearly half the time of a sighting.
    private static let stepNanoseconds: Int64 = 10_000_000_000
    /// Number of points of a series: five minutes.
    package static let points = 30
    /// A beacon that is not heard for this long is forgotten.
    package static let memory: Duration = .seconds(300)
    /// Largest number of beacons. Beyond it, the one heard longest ago is removed. A crowded street has a few hundred.
    package static let capacity = 512

    fileprivate struct Entry: Sendable {
        var last: Sighting
        var lastHeard: MonotonicInstant
        var sightings: UInt64 = 0
        /// Seconds; 0 until the second sighting.
        var interval: Double = 0
        /// The step of the newest point.
        var newestStep: Int64
        /// A ring by step. 127, which is not an RSSI, means "not heard".
        var points = InlineArray<30, Int8>(repeating: 127)
    }

    private var recent = RecentBeacons(capacity: Self.capacity)
    /// Entries by their place in `recent`.
    private var entries: [Entry] = []

    package init() {}

    package var count: Int { recent.count }

    /// Records a sighting. `now` must not be before that of an earlier call.
    package mutating func hear(_ sighting: Sighting, at now: MonotonicInstant) {
        let step = Self.stepNumber(at: now)
        let (place, isNew) = recent.hear(sighting.beacon)
        if isNew {
            let entry = Entry(last: sighting, lastHeard: now, newestStep: step)
            if place < entries.count { entries[place] = entry } else { entries.append(entry) }
        }
        entries[place].hear(sighting, at: now, step: step)
    }

    /// Forgets beacons that were not heard for `memory`.
    package mutating func forget(at now: MonotonicInstant) {
        while let place = recent.oldest, entries[place].lastHeard.duration(to: now) > Self.memory {
            recent.removeOldest()
        }
    }

    /// The beacons heard within `memory`, the strongest first, without `distance` and `regions`.
    package func states(at now: MonotonicInstant) -> [StatusSnapshot.BeaconState] {
        let step = Self.stepNumber(at: now)
        return recent.places.map { entries[$0] }
            .filter { $0.lastHeard.duration(to: now) <= Self.memory }
            .map { $0.state(step: step) }
            .sorted { ($0.rssi?.dBm ?? -128, $0.lastHeard) > ($1.rssi?.dBm ?? -128, $1.lastHeard) }
    }

    private static func stepNumber(at instant: MonotonicInstant) -> Int64 {
        instant.nanoseconds / stepNanoseconds
    }
}

extension BeaconLog.Entry {
    /// Weight of the newest gap in the running mean, so that one lost packet does not double the interval.
    private static var weight: Double { 0.1 }

    fileprivate mutating func hear(_ sighting: Sighting, at now: MonotonicInstant, step: Int64) {
        if sightings > 0 {
            let gap = Double(now.nanoseconds &- lastHeard.nanoseconds) / 1e9
            interval = interval == 0 ? gap : interval + (gap - interval) * Self.weight
        }
        sightings += 1
        (last, lastHeard) = (sighting, now)
        advance(to: step)
        guard let rssi = sighting.rssi else { return }
        let slot = Int(step % Int64(BeaconLog.points))
        if points[slot] == 127 || points[slot] < rssi.dBm { points[slot] = rssi.dBm }
    }

    /// Empties the points after the newest one, up to `step`.
    private mutating func advance(to step: Int64) {
        guard step > newestStep else { return }
        for passed in max(newestStep + 1, step - Int64(BeaconLog.points) + 1)...step {
            points[Int(passed % Int64(BeaconLog.points))] = 127
        }
        newestStep = step
    }

    fileprivate func state(step: Int64) -> StatusSnapshot.BeaconState {
        var seen = self
        seen.advance(to: step)
        let first = step - Int64(BeaconLog.points) + 1
        let series = (first...step).map { number -> RSSI? in
            number < 0 ? nil : RSSI(reported: seen.points[Int(number % Int64(BeaconLog.points))])
        }
        return StatusSnapshot.BeaconState(
            id: last.beacon, measuredPower: last.measuredPower, rssi: last.rssi,
            interval: interval > 0 ? .seconds(interval) : nil, lastHeard: lastHeard, sightings: sightings,
            series: series)
    }
}
