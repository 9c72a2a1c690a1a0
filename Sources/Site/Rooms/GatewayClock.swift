import Base
import SiteProtocol

/// Relates a gateway's monotonic clock to the service's: the least delay seen is taken for none.
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
    }

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
        (start.sequence, start.end, start.judged) = (second.sequence, end, now)
        self.start = start
        return delay &- start.leastDelay > Self.oldest ? .late : .fresh
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
