import Base
import Beacon
import Configuration
import OwnTracks
import Presence
import Regions

/// The locations that follow the transitions of one second.
struct LocationBurst: Sendable {
    /// Locations of a tracker with one `tst`. A location lists the occupied regions, so one for each of N transitions
    /// would cost N² bytes; what exceeds this number shares one location at the end of the second.
    static let mostPerSecond = 32

    private var second = Int64.min
    private var count = 0
    /// When the shared location is due; nil: none waits.
    private(set) var due: MonotonicInstant?

    /// Whether a shared location waits for transitions of another second than `second`.
    func waits(before second: Int64) -> Bool { due != nil && self.second != second }

    /// - Parameter end: When the second ends.
    /// - Returns: whether this transition has a location of its own.
    mutating func admits(second: Int64, endsAt end: MonotonicInstant) -> Bool {
        if second != self.second { (self.second, count) = (second, 0) }
        count += 1
        guard count > Self.mostPerSecond else { return true }
        due = due ?? end
        return false
    }

    mutating func published() { due = nil }
}

extension Gateway {
    /// Where a tracker is, and in which regions.
    func location(
        of position: Int, trigger: Location.Trigger, pointOfInterest: String? = nil, at now: MonotonicInstant
    ) -> Effect {
        let tracker = trackers[position]
        let timestamp = wallClock.epochSeconds(at: now)
        let location = Location(
            trigger, trackerID: tracker.configuration.trackerID,
            position: tracker.position(standing: configuration.position),
            timestamp: timestamp,
            createdAt: timestamp, inRegions: tracker.inside(standing: configuration.position), tag: configuration.tag,
            pointOfInterest: pointOfInterest)
        return publish(
            .location, of: position, on: tracker.topics.base, location.payload,
            isRetained: configuration.broker.retainsLocations, at: now)
    }

    /// The location after a transition, or none if the tracker had many in this second.
    mutating func location(after record: TransitionRecord, at now: MonotonicInstant) -> [Effect] {
        guard configuration.position.isKnown else { return [] }
        let tracker = record.key.tracker
        let nanoseconds = wallClock.epochOffset &+ now.nanoseconds
        let rest = 1_000_000_000 - (nanoseconds % 1_000_000_000 + 1_000_000_000) % 1_000_000_000
        let end = now.advanced(by: .nanoseconds(rest))
        guard trackers[tracker].locations.admits(second: record.timestamp, endsAt: end) else { return [] }
        return [location(of: tracker, trigger: .beacon, at: now)]
    }

    /// When the next shared location is due.
    var locationDue: MonotonicInstant? {
        var due: MonotonicInstant?
        for tracker in trackers {
            if let other = tracker.locations.due { due = min(other, due ?? other) }
        }
        return due
    }

    mutating func publishDueLocations(at now: MonotonicInstant) -> [Effect] {
        var effects: [Effect] = []
        for tracker in trackers.indices {
            guard let due = trackers[tracker].locations.due, due <= now else { continue }
            effects.append(sharedLocation(of: tracker, at: now))
        }
        return effects
    }

    /// The shared location that waits, before a transition of another second.
    mutating func publishLocation(of tracker: Int, before second: Int64, at now: MonotonicInstant) -> [Effect] {
        trackers[tracker].locations.waits(before: second) ? [sharedLocation(of: tracker, at: now)] : []
    }

    private mutating func sharedLocation(of tracker: Int, at now: MonotonicInstant) -> Effect {
        trackers[tracker].locations.published()
        return location(of: tracker, trigger: .beacon, at: now)
    }
}
