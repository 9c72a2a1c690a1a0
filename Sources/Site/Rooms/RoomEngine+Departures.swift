import Base

/// Departures that wait for confirmation.
///
/// Presence lets a tag leave when no gateway has reported it for long enough. But what does not arrive is no evidence: the
/// broker may be gone, or a node of its cluster, or a gateway's Wi-Fi. So a tag is away only when the gateways that recently
/// heard tags have sent a message after it fell silent. A gateway that is alive does so within ten seconds
/// (`ReadingFeed.keepalive`), and within a second while it has heard a tag a short time ago. A tag that is heard meanwhile has
/// not left.
struct Departures: Sendable {
    /// When presence let each tag leave.
    private(set) var since: [TagIndex: MonotonicInstant] = [:]
    /// The earliest of `since`, or an earlier instant; nil: there is none.
    private var oldest: MonotonicInstant?
    /// Whether there is no connection to the broker.
    var isInterrupted = false
    /// When the last interruption ended; nil: there was none.
    private(set) var resumed: MonotonicInstant?

    var isEmpty: Bool { since.isEmpty }

    mutating func insert(_ tag: TagIndex, at now: MonotonicInstant) {
        since[tag] = now
        oldest = min(oldest ?? now, now)
    }

    /// - Returns: Whether the tag was about to leave.
    mutating func remove(_ tag: TagIndex) -> Bool { since.removeValue(forKey: tag) != nil }

    /// Tags have other indices from now on.
    ///
    /// - Parameter index: The new index of a tag, or nil if it is no more.
    mutating func move(to index: (TagIndex) -> TagIndex?) {
        var moved: [TagIndex: MonotonicInstant] = [:]
        for (tag, instant) in since { if let new = index(tag) { moved[new] = instant } }
        since = moved
    }

    /// Gateways must speak once more from now on, because the connection to them was interrupted.
    mutating func begin(again now: MonotonicInstant) {
        since = since.mapValues { _ in now }
        oldest = now
        resumed = now
    }

    /// Removes the tags whose departure is confirmed, in the order of their indices. It costs time for each tag only when a
    /// departure may be confirmed: thousands of tags may wait after an interruption, and messages come each millisecond.
    ///
    /// - Parameter earliest: When the required gateway that has been silent for longest sent its last message; nil: no message is
    ///   required.
    mutating func removeConfirmed(by earliest: MonotonicInstant?) -> [TagIndex] {
        func isConfirmed(_ instant: MonotonicInstant) -> Bool { earliest.map { instant < $0 } ?? true }
        guard let oldest, isConfirmed(oldest) else { return [] }
        let confirmed = since.filter { isConfirmed($0.value) }.keys.sorted()
        for tag in confirmed { since[tag] = nil }
        self.oldest = since.values.min()
        return confirmed
    }
}

extension RoomEngine {
    /// A gateway that heard a tag this long before a departure has to confirm it.
    private static let evidence: Duration = .seconds(60)

    /// If no gateway at all was heard for this long, the connection to them was interrupted: a gateway sends every ten seconds at
    /// least.
    private static let interruption: Duration = .seconds(12)

    /// The connection to the broker was lost, or is there again.
    mutating func setConnected(_ isConnected: Bool, at now: MonotonicInstant) {
        departures.isInterrupted = !isConnected
        if isConnected { departures.begin(again: now) }
    }

    /// A message arrived. After a long silence of all gateways, departures have to be confirmed again.
    mutating func endInterruption(at now: MonotonicInstant) {
        if let latestMessage, latestMessage.duration(to: now) > Self.interruption { departures.begin(again: now) }
        latestMessage = now
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

    private mutating func leave(_ tags: [TagIndex], at now: MonotonicInstant, _ effects: inout [Effect]) {
        for tag in tags { setHome(tag, false, at: now, &effects) }
    }

    /// What confirms a departure.
    private enum Requirement {
        /// Nothing: the site has only gateways that send nothing unless they hear a tag.
        case none
        /// No gateway is available that could.
        case unavailable
        /// A message of each required gateway; the one that has been silent for longest sent its last message at this instant.
        case message(MonotonicInstant)
    }

    private var requirement: Requirement {
        guard let latest = latestMessage else { return .none }
        var earliest = latest
        var (isOneThere, isOneKnown) = (false, false)
        for gateway in gateways.elements where gateway.sendsAlways && gateway.room != nil {
            isOneKnown = true
            guard gateway.isAvailable, let message = gateway.lastMessage else { continue }
            // It is gone if others were heard after its time was over. After an interruption all have that time again.
            let spoke = max(message, departures.resumed ?? message)
            if spoke.advanced(bySeconds: tuning.gatewaySilenceSeconds) <= latest { continue }
            isOneThere = true
            guard let reading = gateway.lastReading, reading.duration(to: message) <= Self.evidence else { continue }
            earliest = min(earliest, message)
        }
        // If none of them heard a tag lately, any message shows that the connection is there.
        guard isOneThere else { return isOneKnown ? .unavailable : .none }
        return .message(earliest)
    }
}
