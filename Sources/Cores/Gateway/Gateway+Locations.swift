import Base
import Configuration
import OwnTracks
import Regions

extension Gateway {
    /// Publishes the location of a tracker, if it may be published now: its position and the regions around it.
    mutating func location(
        of position: Int, trigger: Location.Trigger, pointOfInterest: String? = nil, cause: Location.Cause? = nil,
        at now: MonotonicInstant
    ) -> [Effect] {
        trackers[position].lastLocation = now
        guard mayPublish(.location(trigger), of: position, at: now) else { return [] }
        let tracker = trackers[position]
        let timestamp = wallClock.epochSeconds(at: now)
        let here = tracker.position(standing: configuration.position)
        let location = Location(
            trigger, trackerID: tracker.configuration.trackerID, position: here, timestamp: timestamp,
            createdAt: timestamp, inRegions: tracker.inside(standing: configuration.position), tag: configuration.tag,
            pointOfInterest: pointOfInterest, cause: cause)
        let message = publish(
            trigger == .periodic ? .ping : .location, of: position, on: tracker.topics.base, location.payload,
            isRetained: configuration.broker.retainsLocations, at: now)
        let record = PastLocation(
            tracker: tracker.topics.base, coordinates: here.coordinates, accuracy: Int64(here.accuracy),
            trigger: trigger.rawValue, timestamp: timestamp, stamp: wallClock.stamp, happened: now)
        return [message, .recordLocation(record)]
    }

    /// The location after a transition, or none if the tracker has sent many in this second.
    mutating func location(after record: PastTransition, of tracker: Int, at now: MonotonicInstant) -> [Effect] {
        guard isPlaceKnown(of: tracker) else { return [] }
        let nanoseconds = wallClock.epochOffset &+ now.nanoseconds
        let rest = 1_000_000_000 - (nanoseconds % 1_000_000_000 + 1_000_000_000) % 1_000_000_000
        let end = now.advanced(by: .nanoseconds(rest))
        let trigger: Location.Trigger = record.beacon == nil ? .circle : .beacon
        guard trackers[tracker].locations.admits(second: record.timestamp, endsAt: end, trigger: trigger) else {
            return []
        }
        let cause = Location.Cause(record.event, description: record.name)
        return location(of: tracker, trigger: trigger, cause: cause, at: now)
    }

    /// Whether there is a location to publish. A gateway at 0/0 publishes none, even on request.
    func isPlaceKnown(of tracker: Int) -> Bool { trackers[tracker].position(standing: configuration.position).isKnown }

    /// Why no location can be published.
    static let placeIsUnknown = "the place of this gateway is not set (lat, lon)"

    /// When the next shared or periodic location is due.
    var locationDue: MonotonicInstant? {
        var due: MonotonicInstant?
        for tracker in trackers {
            for other in [tracker.locations.due, tracker.periodicLocationDue(by: configuration)] {
                if let other { due = min(other, due ?? other) }
            }
        }
        return due
    }

    mutating func publishDueLocations(at now: MonotonicInstant) -> [Effect] {
        var effects: [Effect] = []
        for tracker in trackers.indices {
            if let due = trackers[tracker].locations.due, due <= now {
                effects += sharedLocation(of: tracker, at: now)
            }
            if let due = trackers[tracker].periodicLocationDue(by: configuration), due <= now {
                effects += location(of: tracker, trigger: .periodic, at: now)
            }
        }
        return effects
    }

    /// Publishes the shared location of the previous second before a transition of another second.
    mutating func publishLocation(of tracker: Int, before second: Int64, at now: MonotonicInstant) -> [Effect] {
        trackers[tracker].locations.waits(before: second) ? sharedLocation(of: tracker, at: now) : []
    }

    /// The present locations of all trackers: the broker has forgotten the session, and perhaps what it retained. With
    /// `cleanSession` it forgets the session with each connection; then they are not published more often than once a minute.
    mutating func locationsAgain(at now: MonotonicInstant) -> [Effect] {
        // A server of HTTP has no sessions, and retains nothing.
        guard configuration.broker.retainsLocations, configuration.broker.endpoint == nil else { return [] }
        var effects: [Effect] = []
        for tracker in trackers.indices where isPlaceKnown(of: tracker) {
            let isFrequent = trackers[tracker].lastLocation.duration(to: now) < .seconds(60)
            guard !configuration.broker.cleanSession || !isFrequent else { continue }
            effects += location(of: tracker, trigger: .periodic, at: now)
        }
        return effects
    }

    private mutating func sharedLocation(of tracker: Int, at now: MonotonicInstant) -> [Effect] {
        trackers[tracker].locations.published()
        return location(of: tracker, trigger: trackers[tracker].locations.trigger, at: now)
    }
}
