import Base
import Beacon

/// Departures that wait for confirmation.
///
/// Presence lets a tag leave when no gateway has reported it for long enough. But missing messages are no evidence: the broker,
/// a node of its cluster or a gateway's Wi-Fi may have failed. So a tag is away only when all gateways that recently heard tags
/// have sent another message. A running gateway does so within ten seconds (`ReadingFeed.keepalive`), and within a second if it
/// heard a tag a short time ago; an ESPresense node within the 15 s of its telemetry. A tag that is heard meanwhile has not left.
///
/// A gateway's first message after others were lost covers one second. The time before does not count as silence
/// (`GatewayState.follows`), so a tag that presence let go in that time waits until the gateway has listened for long enough.
struct Departures: Sendable {
    struct Departure: Sendable {
        /// When presence let the tag leave, or when a confirmation last came too early.
        var since: MonotonicInstant
        /// The beacon of the tag that was heard last; nil if that is not known.
        let beacon: BeaconID?
    }

    /// What confirms a departure.
    enum Confirmation {
        /// No confirmation is needed: the site has only nodes that send nothing unless they hear a tag, or only these are left.
        case none
        /// No gateway that could confirm it is available.
        case unavailable
        /// A message of each required gateway; the one that has been silent for longest sent its last message at this instant.
        case message(MonotonicInstant)
    }

    private var since: [TagIndex: Departure] = [:]
    /// The earliest of `since`, or an earlier instant; nil only if `since` is empty.
    private var oldest: MonotonicInstant?
    /// Whether there is no connection to the broker.
    private(set) var isInterrupted = false
    /// When the last interruption ended; nil if there was none.
    private(set) var resumed: MonotonicInstant?
    /// When the service last got a connection to the broker; nil if it always had one.
    private var reconnected: MonotonicInstant?

    var isEmpty: Bool { since.isEmpty }

    func contains(_ tag: TagIndex) -> Bool { since[tag] != nil }

    /// Records that the connection to the broker was lost or restored.
    mutating func setConnected(_ isConnected: Bool, at now: MonotonicInstant) {
        isInterrupted = !isConnected
        guard isConnected else { return }
        begin(again: now)
        reconnected = now
    }

    /// Whether there was a time without a connection to the broker since a message.
    func wasInterrupted(since message: MonotonicInstant?) -> Bool {
        guard let message, let reconnected else { return isInterrupted }
        return isInterrupted || message <= reconnected
    }

    mutating func insert(_ tag: TagIndex, at now: MonotonicInstant, last beacon: BeaconID? = nil) {
        since[tag] = Departure(since: now, beacon: beacon)
        oldest = min(oldest ?? now, now)
    }

    /// - Returns: Whether the tag was about to leave.
    mutating func remove(_ tag: TagIndex) -> Bool { since.removeValue(forKey: tag) != nil }

    /// The tags get new indices.
    ///
    /// - Parameter indices: The new index of each tag that still exists.
    mutating func move(to indices: [TagIndex: TagIndex]) {
        var moved: [TagIndex: Departure] = [:]
        for (tag, departure) in since { if let new = indices[tag] { moved[new] = departure } }
        since = moved
    }

    /// Requires another message of the gateways, because the connection to them was interrupted.
    mutating func begin(again now: MonotonicInstant) {
        since = since.mapValues { Departure(since: now, beacon: $0.beacon) }
        oldest = now
        resumed = now
    }

    /// Removes the tags whose departure is confirmed, in the order of their indices. It visits all tags only when a departure
    /// may be confirmed: thousands of tags may wait after an interruption, and a message arrives each millisecond.
    ///
    /// - Parameter earliest: When the required gateway that has been silent for longest sent its last message; nil if no
    ///   message is required.
    mutating func removeConfirmed(by earliest: MonotonicInstant?) -> [(tag: TagIndex, beacon: BeaconID?)] {
        func isConfirmed(_ instant: MonotonicInstant) -> Bool { earliest.map { instant < $0 } ?? true }
        guard let oldest, isConfirmed(oldest) else { return [] }
        let confirmed = since.filter { isConfirmed($0.value.since) }.map { (tag: $0.key, beacon: $0.value.beacon) }
        for (tag, _) in confirmed { since[tag] = nil }
        self.oldest = since.values.lazy.map(\.since).min()
        return confirmed.sorted { $0.tag < $1.tag }
    }
}
