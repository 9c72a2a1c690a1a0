package import Beacon

/// What the presence engine wants to find again after a restart.
package struct PresenceRecord: Hashable, Sendable {
    /// Somebody inside a region, for people who look into the file. The engine reads `state` alone.
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

        /// Of what tells most of them apart: all of them are hashed at each transition.
        package func hash(into hasher: inout Hasher) {
            hasher.combine(rid)
            hasher.combine(beacon.minor)
        }
    }

    /// Of the form of `state`. The reader decides which it understands.
    package var version: Int64
    /// The engine's own form.
    package var state: [UInt8]
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
