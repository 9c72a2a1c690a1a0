package import Base
package import Beacon

/// One transition that happened.
package struct HistoryEntry: Hashable, Sendable {
    package enum Event: Int64, Sendable {
        case enter = 0
        case leave = 1
    }

    /// The base topic of the tracker.
    package var tracker: String
    package var rid: String
    /// The region's name as transitions show it.
    package var name: String
    package var event: Event
    /// The beacon that entered first or left last, if known.
    package var beacon: BeaconID?
    /// Epoch seconds; invalid while `stamp` is `provisional`.
    package var timestamp: Int64
    package var stamp: WallStamp
    package var happened: MonotonicInstant

    package init(
        tracker: String, rid: String, name: String, event: Event, beacon: BeaconID?, timestamp: Int64,
        stamp: WallStamp, happened: MonotonicInstant
    ) {
        self.tracker = tracker
        self.rid = rid
        self.name = name
        self.event = event
        self.beacon = beacon
        self.timestamp = timestamp
        self.stamp = stamp
        self.happened = happened
    }
}

/// Which transitions a reader wants.
package struct HistoryFilter: Hashable, Sendable {
    package var tracker: String?
    /// A `rid` or a name.
    package var region: String?
    /// Epoch seconds, included.
    package var since: Int64?
    /// Epoch seconds, not included.
    package var until: Int64?
    /// At most this many, the newest of them.
    package var limit: Int

    package init(
        tracker: String? = nil, region: String? = nil, since: Int64? = nil, until: Int64? = nil, limit: Int = 100_000
    ) {
        self.tracker = tracker
        self.region = region
        self.since = since
        self.until = until
        self.limit = limit
    }
}
