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
    /// The earliest of `since`, or an earlier instant.
    private var oldest = Int64.max
    /// Whether there is no connection to the broker.
    var isInterrupted = false
    /// When the last interruption ended; 0: there was none.
    private(set) var resumed: Int64 = 0

    var isEmpty: Bool { since.isEmpty }

    mutating func insert(_ tag: Int, at now: Int64) {
        since[tag] = now
        oldest = min(oldest, now)
    }

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
        oldest = now
        resumed = now
    }

    /// Removes the tags whose departure is confirmed, in the order of their positions. It costs time for each tag only when a
    /// departure may be confirmed: thousands of tags may wait after an interruption, and messages come each millisecond.
    ///
    /// - Parameter earliest: When the required gateway that has been silent for longest sent its last message.
    mutating func removeConfirmed(by earliest: Int64) -> [Int] {
        guard oldest < earliest else { return [] }
        let confirmed = since.filter { $0.value < earliest }.keys.sorted()
        for tag in confirmed { since[tag] = nil }
        oldest = since.values.min() ?? .max
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

    /// A message arrived. After a long silence of all gateways, departures have to be confirmed again.
    mutating func endInterruption(at now: Int64) {
        if latestMessage != .min, now - latestMessage > Self.interruption { departures.begin(again: now) }
        latestMessage = now
    }

    /// Lets tags leave whose departure is confirmed.
    mutating func confirmDepartures(at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard !departures.isEmpty, !departures.isInterrupted, let earliest = earliestWitness(at: now.nanoseconds) else {
            return
        }
        for tag in departures.removeConfirmed(by: earliest) { setHome(tag, false, at: now, &effects) }
    }

    /// When the required gateway that has been silent for longest sent its last message.
    ///
    /// - Returns: `.max` if the site has only gateways that send nothing unless they hear a tag; nil if no other gateway is
    ///   available.
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
