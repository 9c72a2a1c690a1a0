import Base
import SiteProtocol

/// Relates a gateway's monotonic clock to the service's. The smallest delay seen is taken as zero.
///
/// A clock can be set: the clock of a virtual machine stops while the machine is moved. Then all messages seem to be late by
/// the same amount. The messages of a backlog are late, too, but arrive faster than they were made: each is less late than the one before.
///
/// Any client may send one message in the name of the gateway, with a sequence number that the gateway will not reach. So what
/// was known before a gap of the numbers is kept, and the gateway's own messages return to it.
struct GatewayClock: Sendable {
    /// Readings that are later than this are dropped, nanoseconds.
    static let oldest: Int64 = Duration.seconds(5).nanoseconds
    /// How fast the estimate follows a gateway whose clock runs slow: 200 parts per million.
    private static let drift: Int64 = 5_000

    /// What is known about the gateway since its latest start. Numbers are nanoseconds, because two clocks are compared.
    private struct Start: Sendable {
        var startID: String
        var sequence: Int64
        /// The end of the latest second, on the gateway's clock.
        var end: Int64
        /// Arrival on the service's clock minus the end of the second on the gateway's, the smallest so far.
        var leastDelay: Int64
        /// When the latest message was judged.
        var judged: MonotonicInstant
        /// Late messages that may show that one of the clocks was set; nil if the latest message was not late.
        var shift: Shift?
        /// Consecutive messages since a gap that continue what came before it, and when the first arrived.
        var returned: (messages: Int, first: MonotonicInstant)?
    }

    /// Consecutive messages that are late by the same amount.
    private struct Shift: Sendable {
        var began: MonotonicInstant
        var messages = 1
        var leastDelay: Int64
        var mostDelay: Int64

        /// Adds the next message.
        ///
        /// - Returns: false if its delay differs from that of the messages before.
        mutating func add(delay: Int64) -> Bool {
            let (least, most) = (min(leastDelay, delay), max(mostDelay, delay))
            guard most &- least <= GatewayClock.steadiness else { return false }
            (leastDelay, mostDelay) = (least, most)
            messages += 1
            return true
        }
    }

    /// At least `fewestSteady` consecutive messages over at least `steadyFor` show that a clock was set if their delays differ
    /// by at most this many nanoseconds.
    private static let steadiness: Int64 = Duration.milliseconds(500).nanoseconds
    private static let fewestSteady = 3
    private static let steadyFor: Duration = .seconds(10)

    /// A start returns to what was before a gap with at least this many consecutive messages, over at least `returningFor`.
    private static let fewestReturned = 3
    private static let returningFor: Duration = .seconds(2)
    /// What was known before a gap is replaced at a later gap if it was not continued for this long.
    private static let gapMemory: Duration = .seconds(60)

    private var start: Start?
    /// The same start before a gap of the sequence numbers.
    private var beforeGap: Start?
    /// The ids of earlier starts, the latest last.
    private var pastStartIDs: [String] = []
    /// When an earlier start came back; the latest last.
    private var returns: [MonotonicInstant] = []

    enum Verdict: Hashable { case fresh, late, repeated }

    /// Judges a message that arrived at `now`.
    mutating func judge(_ second: HeardSecond, at now: MonotonicInstant) -> Verdict {
        guard let end = second.at?.nanoseconds else { return .fresh }
        let delay = now.nanoseconds &- end
        guard var start, start.startID == second.startID else {
            detectReturn(to: second.startID, at: now)
            start = Start(startID: second.startID, sequence: second.sequence, end: end, leastDelay: delay, judged: now)
            beforeGap = nil
            return .fresh
        }
        guard second.sequence > start.sequence else { return judgeReturn(second, end: end, delay: delay, at: now) }
        let isNext = second.sequence == start.sequence &+ 1
        if !isNext, beforeGap.map({ $0.judged.duration(to: now) > Self.gapMemory }) ?? true { beforeGap = start }
        let creep = max(0, now.nanoseconds - start.judged.nanoseconds) / Self.drift
        start.leastDelay = end < start.end ? delay : min(delay, start.leastDelay &+ creep)
        (start.sequence, start.end, start.judged) = (second.sequence, end, now)
        defer { self.start = start }
        guard delay &- start.leastDelay > Self.oldest else {
            start.shift = nil
            return .fresh
        }
        guard isNext, var shift = start.shift, shift.add(delay: delay) else {
            start.shift = Shift(began: now, leastDelay: delay, mostDelay: delay)
            return .late
        }
        start.shift = shift
        guard shift.messages >= Self.fewestSteady, shift.began.duration(to: now) >= Self.steadyFor else { return .late }
        (start.leastDelay, start.shift) = (shift.leastDelay, nil)
        return .fresh
    }

    /// Judges a message whose number is not above the latest one. It is a repetition, unless it and the messages before it continue
    /// what came before a gap, at the right time.
    private mutating func judgeReturn(
        _ second: HeardSecond, end: Int64, delay: Int64, at now: MonotonicInstant
    ) -> Verdict {
        guard var earlier = beforeGap, second.sequence > earlier.sequence, end >= earlier.end,
            abs(Double(delay) - Double(earlier.leastDelay)) <= Double(Self.oldest)
        else { return .repeated }
        let isNext = second.sequence == earlier.sequence &+ 1
        let returned = (isNext ? earlier.returned : nil) ?? (messages: 0, first: now)
        earlier.returned = (returned.messages + 1, returned.first)
        (earlier.sequence, earlier.end, earlier.judged) = (second.sequence, end, now)
        guard returned.messages + 1 >= Self.fewestReturned, returned.first.duration(to: now) >= Self.returningFor else {
            beforeGap = earlier
            return .repeated
        }
        earlier.returned = nil
        (start, beforeGap) = (earlier, nil)
        return .fresh
    }

    /// A restarted gateway has a new start id, and does not return to the previous one. A late message of the previous start counts
    /// as a return to it, and the next message as another return.
    private mutating func detectReturn(to new: String, at now: MonotonicInstant) {
        guard let startID = start?.startID, !startID.isEmpty else { return }
        if pastStartIDs.contains(new) { returns = returns.suffix(Self.fewestReturns - 1) + [now] }
        pastStartIDs = pastStartIDs.filter { $0 != startID }.suffix(Self.mostPastStarts - 1) + [startID]
    }

    private static let fewestReturns = 3
    private static let mostPastStarts = 4
    /// The returns must lie within this time.
    private static let alternation: Duration = .seconds(600)

    /// Whether starts alternate because several gateways have this name.
    @inline(__always)
    func isShared(at now: MonotonicInstant) -> Bool {
        returns.count >= Self.fewestReturns && returns[0].duration(to: now) < Self.alternation
    }

    /// Forgets everything: another recording or another connection follows.
    mutating func forget() { self = GatewayClock() }
}
