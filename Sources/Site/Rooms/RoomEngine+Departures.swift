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
        /// When presence let the tag leave, or when it was last too early to confirm that.
        var since: MonotonicInstant
        /// The beacon of the tag that was heard last; nil if that is not known.
        let beacon: BeaconID?
    }

    private(set) var since: [TagIndex: Departure] = [:]
    /// The earliest of `since`, or an earlier instant; nil only if `since` is empty.
    private var oldest: MonotonicInstant?
    /// Whether there is no connection to the broker.
    var isInterrupted = false
    /// When the last interruption ended; nil if there was none.
    private(set) var resumed: MonotonicInstant?
    /// When the service last got a connection to the broker; nil if it always had one.
    var reconnected: MonotonicInstant?

    var isEmpty: Bool { since.isEmpty }

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

    /// Applies new indices of the tags.
    ///
    /// - Parameter index: The new index of a tag; nil if the tag no longer exists.
    mutating func move(to index: (TagIndex) -> TagIndex?) {
        var moved: [TagIndex: Departure] = [:]
        for (tag, departure) in since { if let new = index(tag) { moved[new] = departure } }
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

extension RoomEngine {
    /// A gateway has to confirm departures if it reported a tag at most this long before its last message.
    private static let evidence: Duration = .seconds(60)

    /// If no gateway at all was heard for this long, the connection was interrupted: a gateway sends at least every ten
    /// seconds.
    static let interruption: Duration = .seconds(12)

    /// Records that the connection to the broker was lost or restored. Meanwhile no time of a node counts as silence of tags.
    mutating func setConnected(_ isConnected: Bool, at now: MonotonicInstant, _ effects: inout [Effect]) {
        departures.isInterrupted = !isConnected
        if isConnected {
            departures.begin(again: now)
            departures.reconnected = now
        }
        // The next message of an ibeacon-gateway shows by its number that messages were lost. Those of a node have none.
        for gateway in gateways.indices where gateways[gateway].isListening && !gateways[gateway].sendsAlways {
            forgetListening(of: gateway, at: now)
            take(presence.setListening(gateway, isConnected, at: now), at: now, &effects)
            guard isConnected else { continue }
            // It gets the whole time again in which it may be silent. Else no tag would go away if it was silent from now on.
            gateways[gateway].lastMessage = now
            gateways[gateway].isAwaited = true
            updateSilence(of: gateway)
        }
    }

    /// Records a message. After a long silence of all gateways, departures have to be confirmed again.
    mutating func endInterruption(at now: MonotonicInstant) {
        if let latestMessage, latestMessage.duration(to: now) > Self.interruption,
            isInterruption(since: latestMessage, at: now)
        {
            departures.begin(again: now)
        }
        latestMessage = now
    }

    /// Whether a silence of all gateways is longer than any of them may be silent. An ibeacon-gateway that listens sends at least every ten
    /// seconds. Where there are nodes alone, they may be silent for as long as their telemetry takes.
    private func isInterruption(since message: MonotonicInstant, at now: MonotonicInstant) -> Bool {
        var period = GatewayState.leastTelemetryPeriod
        for gateway in gateways.elements {
            if gateway.sendsAlways, gateway.isListening { return true }
            if gateway.hasTelemetry, let telemetry = gateway.telemetry { period = max(period, telemetry.period) }
        }
        return now.seconds(since: message) > 1.5 * period
    }

    /// Lets tags leave whose departure is confirmed.
    mutating func confirmDepartures(at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard !departures.isEmpty, !departures.isInterrupted else { return }
        switch requirement {
        case .unavailable: return
        case .none: leave(departures.removeConfirmed(by: nil), at: now, &effects)
        case .message(let earliest): leave(departures.removeConfirmed(by: earliest), at: now, &effects)
        }
    }

    private mutating func leave(
        _ departures: [(tag: TagIndex, beacon: BeaconID?)], at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        for (tag, beacon) in departures {
            if let beacon, states.contains(index: tag),
                !presence.hasGivenUp(beacon, of: states[tag].description, at: now)
            {
                self.departures.insert(tag, at: now, last: beacon)
            } else {
                setHome(tag, false, at: now, &effects)
            }
        }
    }

    /// What confirms a departure.
    private enum Requirement {
        /// No confirmation is needed: the site has only nodes that send nothing unless they hear a tag, or only these are left.
        case none
        /// No gateway that could confirm it is available.
        case unavailable
        /// A message of each required gateway; the one that has been silent for longest sent its last message at this instant.
        case message(MonotonicInstant)
    }

    private var requirement: Requirement {
        guard let latest = latestMessage else { return .none }
        if isNodeAwaited { return .unavailable }
        var earliest = latest
        var (isOneThere, isOneKnown) = (false, false)
        for gateway in gateways.elements where (gateway.sendsAlways || gateway.hasTelemetry) && gateway.room != nil {
            if gateway.sendsAlways { isOneKnown = true }
            // A gateway that the broker calls offline may be about to return: a new connection ends the old one. The time of such a node
            // stands still.
            guard let message = gateway.lastMessage, gateway.sendsAlways || gateway.isAvailable else { continue }
            // It is gone if others were heard after its time ended. After an interruption, that time begins anew for all.
            let spoke = max(message, departures.resumed ?? message)
            if spoke.advanced(bySeconds: gateway.silenceSeconds(tuning)) <= latest { continue }
            isOneThere = true
            guard let reading = gateway.lastReading, reading.duration(to: message) <= Self.evidence else { continue }
            earliest = min(earliest, message)
        }
        // If none of them heard a tag recently, any message shows that the connection works.
        guard isOneThere else { return isOneKnown && !isNodeListening ? .unavailable : .none }
        return .message(earliest)
    }

    /// Whether an ESPresense node listens: tags that it reports no more are away, and no message of a gateway is needed.
    private var isNodeListening: Bool { gateways.elements.contains { !$0.sendsAlways && $0.isListening } }

    /// Whether a node has not spoken since the service reconnected, and may still do so: a node may connect later than the
    /// service.
    private var isNodeAwaited: Bool {
        gateways.elements.contains { !$0.sendsAlways && $0.isListening && $0.isAwaited }
    }
}
