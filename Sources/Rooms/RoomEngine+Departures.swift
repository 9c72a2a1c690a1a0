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
    private(set) var since: [Int: Int64] = [:]
    /// Whether there is no connection to the broker.
    var isInterrupted = false
    /// When the last interruption ended; 0: there was none.
    private(set) var resumed: Int64 = 0

    var isEmpty: Bool { since.isEmpty }

    mutating func insert(_ tag: Int, at now: Int64) { since[tag] = now }

    /// - Returns: Whether the tag was about to leave.
    mutating func remove(_ tag: Int) -> Bool { since.removeValue(forKey: tag) != nil }

    /// Tags have other positions from now on.
    ///
    /// - Parameter place: The new position of a tag, or nil if it is no more.
    mutating func move(_ place: (Int) -> Int?) {
        var moved: [Int: Int64] = [:]
        for (tag, instant) in since { if let new = place(tag) { moved[new] = instant } }
        since = moved
    }

    /// Gateways must speak once more from now on, because the connection to them was interrupted.
    mutating func begin(again now: Int64) {
        since = since.mapValues { _ in now }
        resumed = now
    }

    /// Takes out the tags whose departure every gateway of importance has confirmed, in the order of their positions.
    ///
    /// - Parameter earliest: When the one of these gateways spoke that has been silent for longest.
    mutating func takeConfirmed(by earliest: Int64) -> [Int] {
        let confirmed = since.filter { $0.value < earliest }.keys.sorted()
        for tag in confirmed { since[tag] = nil }
        return confirmed
    }
}

extension RoomEngine {
    /// A gateway that heard a tag this long before a departure has to confirm it, in nanoseconds.
    private static let evidence: Int64 = 60_000_000_000

    /// If no gateway at all was heard for this long, the connection to them was interrupted. In nanoseconds: a gateway sends
    /// every ten seconds at least.
    private static let interruption: Int64 = 12_000_000_000

    /// The connection to the broker was lost, or is there again.
    mutating func setConnected(_ isConnected: Bool, at now: MonotonicInstant) {
        departures.isInterrupted = !isConnected
        if isConnected { departures.begin(again: now.nanoseconds) }
    }

    /// A message arrived, and this is when the one before it came from any gateway.
    mutating func noteArrival(after latest: Int64, at now: Int64) {
        if latest != .min, now - latest > Self.interruption { departures.begin(again: now) }
    }

    /// Lets tags leave whose departure is confirmed.
    mutating func confirmDepartures(at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard !departures.isEmpty, !departures.isInterrupted, let earliest = earliestWitness(at: now.nanoseconds) else {
            return
        }
        for tag in departures.takeConfirmed(by: earliest) { setHome(tag, false, at: now, &effects) }
    }

    /// When the gateway spoke last that has been silent for longest, of those that have to confirm a departure.
    ///
    /// - Returns: `.max` if no gateway can confirm anything, because none of them speaks unless it hears a tag; nil if no gateway
    ///   is there.
    private func earliestWitness(at now: Int64) -> Int64? {
        let latest = latestMessage
        var (earliest, isOneThere, isOneKnown) = (Int64.max, false, false)
        for gateway in gateways where gateway.sendsAlways && gateway.room >= 0 {
            isOneKnown = true
            guard gateway.isAvailable else { continue }
            // It is gone if others were heard after its time was over. After an interruption all have that time again.
            let silent = max(gateway.lastMessage, departures.resumed) + Int64(tuning.gatewaySilenceSeconds * 1e9)
            if silent <= latest { continue }
            isOneThere = true
            guard gateway.lastReading != .min, gateway.lastMessage - gateway.lastReading <= Self.evidence else {
                continue
            }
            earliest = min(earliest, gateway.lastMessage)
        }
        guard isOneThere else { return isOneKnown ? nil : .max }
        // None of them heard a tag lately: any message shows that the connection is there.
        return min(earliest, latest)
    }
}
