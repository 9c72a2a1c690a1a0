package import Base
package import Beacon

/// What the presence engine wants to find again after a restart.
package struct PresenceRecord: Hashable, Sendable {
    /// A region of a tracker.
    package struct Place: Hashable, Sendable {
        /// The base topic of the tracker.
        package var tracker: String
        package var rid: String

        package init(tracker: String, rid: String) {
            self.tracker = tracker
            self.rid = rid
        }
    }

    /// Somebody inside a region, for people who look into the file. The engine reads its own forms alone.
    package struct Inside: Hashable, Sendable {
        /// The base topic of the tracker.
        package var tracker: String
        package var rid: String
        package var beacon: BeaconID
        /// Epoch seconds, as far as they were known.
        package var since: Int64?
        /// Epoch seconds, as far as they were known.
        package var lastHeard: Int64?

        package init(tracker: String, rid: String, beacon: BeaconID, since: Int64?, lastHeard: Int64?) {
            self.tracker = tracker
            self.rid = rid
            self.beacon = beacon
            self.since = since
            self.lastHeard = lastHeard
        }

        package var place: Place { Place(tracker: tracker, rid: rid) }
    }

    /// Of the form of `state`. The reader decides which it understands.
    package var version: Int64
    /// The engine's own form.
    package var state: [UInt8]
    /// `PresenceChange.state` of those since, in their order.
    package var changes: [[UInt8]] = []
    package var inside: [Inside]
    package var savedAt: MonotonicInstant
    /// The boot whose clock `savedAt`, and every instant in `state`, was read from. The store fills it in.
    package var boot: String

    package init(
        version: Int64, state: [UInt8], inside: [Inside], savedAt: MonotonicInstant, boot: String = ""
    ) {
        self.version = version
        self.state = state
        self.inside = inside
        self.savedAt = savedAt
        self.boot = boot
    }
}

/// What a transition changed in presence.
package struct PresenceChange: Hashable, Sendable {
    /// The engine's own form, to be read after the whole and the changes before it.
    package var state: [UInt8]
    /// Those who came, for people.
    package var entered: [PresenceRecord.Inside]
    /// Where nobody is any more, for people.
    package var left: [PresenceRecord.Place]

    package init(state: [UInt8], entered: [PresenceRecord.Inside], left: [PresenceRecord.Place]) {
        self.state = state
        self.entered = entered
        self.left = left
    }
}
