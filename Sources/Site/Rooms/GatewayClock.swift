import Base
import SiteProtocol

/// Relates a gateway's monotonic clock to the service's: the least delay seen is taken for none.
///
/// A clock may be set: that of a virtual machine stands still while the machine is moved. Then all messages seem to be late, each
/// by the same time. A backlog is late, too, but arrives faster than it was made: each message is less late than the one before.
struct GatewayClock: Sendable {
    /// Readings that are older are worth nothing.
    private static let oldest: Int64 = Duration.seconds(5).nanoseconds
    /// How fast the estimate follows a gateway whose clock runs slow: 200 parts per million.
    private static let drift: Int64 = 5_000

    /// What is known of the gateway since its latest start. Numbers are nanoseconds, because two clocks are compared.
    private struct Start: Sendable {
        var boot: String
        var sequence: Int64
        /// The end of the latest second, on the gateway's clock.
        var end: Int64
        /// Arrival on the service's clock minus the end of the second on the gateway's, the smallest so far.
        var leastDelay: Int64
        /// When a message was judged last.
        var judged: MonotonicInstant
        /// What may be another time of one of the clocks; nil: the latest message was not late.
        var shift: Shift?
    }

    /// Messages that are late by the same time.
    private struct Shift: Sendable {
        var began: MonotonicInstant
        var messages = 1
        var leastDelay: Int64
        var mostDelay: Int64

        /// Takes the next message.
        ///
        /// - Returns: false if it is late by another time than the messages before.
        mutating func add(delay: Int64) -> Bool {
            let (least, most) = (min(leastDelay, delay), max(mostDelay, delay))
            guard most &- least <= GatewayClock.steadiness else { return false }
            (leastDelay, mostDelay) = (least, most)
            messages += 1
            return true
        }
    }

    /// Messages that are late by the same time to this many nanoseconds, at least so many and for so long, without one missing
    /// among them, show that a clock was set.
    private static let steadiness: Int64 = Duration.milliseconds(500).nanoseconds
    private static let fewestSteady = 3
    private static let steadyFor: Duration = .seconds(10)

    private var start: Start?
    /// Boots of earlier starts, the latest last.
    private var pastBoots: [String] = []
    /// When an earlier boot came back; the latest last.
    private var returns: [MonotonicInstant] = []

    enum Verdict: Hashable { case fresh, late, repeated }

    /// Judges a message that arrived at `now`.
    mutating func judge(_ second: HeardSecond, at now: MonotonicInstant) -> Verdict {
        guard let end = second.at?.nanoseconds else { return .fresh }
        let delay = now.nanoseconds &- end
        guard var start, start.boot == second.boot else {
            detectReturn(to: second.boot, at: now)
            start = Start(boot: second.boot, sequence: second.sequence, end: end, leastDelay: delay, judged: now)
            return .fresh
        }
        guard second.sequence > start.sequence else { return .repeated }
        let creep = max(0, now.nanoseconds - start.judged.nanoseconds) / Self.drift
        start.leastDelay = end < start.end ? delay : min(delay, start.leastDelay &+ creep)
        let isNext = second.sequence == start.sequence &+ 1
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

    /// A gateway that was started anew has a new boot, and does not return to the one before. A message that comes late from the
    /// start before is a return to it, and the next one another.
    private mutating func detectReturn(to new: String, at now: MonotonicInstant) {
        guard let boot = start?.boot, !boot.isEmpty else { return }
        if pastBoots.contains(new) { returns = returns.suffix(Self.fewestReturns - 1) + [now] }
        pastBoots = pastBoots.filter { $0 != boot }.suffix(Self.mostBoots - 1) + [boot]
    }

    private static let fewestReturns = 3
    private static let mostBoots = 4
    /// The returns must lie within this time.
    private static let alternation: Duration = .seconds(600)

    /// Whether boots alternate: several gateways have this name.
    func isShared(at now: MonotonicInstant) -> Bool {
        returns.count >= Self.fewestReturns && returns[0].duration(to: now) < Self.alternation
    }

    /// What comes next is another recording, or another connection: nothing of before holds.
    mutating func forget() { self = GatewayClock() }
}
