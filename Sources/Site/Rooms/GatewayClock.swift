import Base
import SiteProtocol

/// Relates a gateway's monotonic clock to the service's: the least delay seen is taken for none.
struct GatewayClock: Sendable {
    /// Readings that are older are worth nothing.
    static let oldest: Int64 = 5_000_000_000
    /// How fast the estimate follows a gateway whose clock runs slow: 200 parts per million.
    private static let drift: Int64 = 5_000

    private var boot = ""
    /// Of before, the latest last.
    private var pastBoots: [String] = []
    /// When a boot of before came back, nanoseconds of the service's clock; the latest last.
    private var returns: [Int64] = []
    private var sequence = Int64.min
    private var lastAt = Int64.min
    /// Arrival minus `at`, smallest of the boot, nanoseconds.
    private var offset = Int64.max
    private var adjusted: Int64 = 0

    enum Verdict: Hashable { case fresh, late, repeated }

    /// Judges a message that arrived at `now`, in nanoseconds of the service's clock.
    mutating func judge(_ second: HeardSecond, at now: Int64) -> Verdict {
        guard let at = second.at?.nanoseconds else { return .fresh }
        if second.boot != boot || offset == .max {
            detectReturn(to: second.boot, at: now)
            boot = second.boot
            offset = .max
        } else if second.sequence <= sequence {
            return .repeated
        }
        sequence = second.sequence
        let delay = now.subtractingReportingOverflow(at)
        guard !delay.overflow else { return .late }
        if at < lastAt { offset = .max }
        lastAt = at
        if offset == .max {
            offset = delay.partialValue
        } else {
            let creep = max(0, now - adjusted) / Self.drift
            offset = min(delay.partialValue, offset.addingReportingOverflow(creep).partialValue)
        }
        adjusted = now
        return delay.partialValue - offset > Self.oldest ? .late : .fresh
    }

    /// A gateway that was started anew has a boot that was never met, and does not return to the one of before. One that
    /// comes late from before is a return to it, and another one back.
    private mutating func detectReturn(to new: String, at now: Int64) {
        guard !boot.isEmpty, new != boot else { return }
        if pastBoots.contains(new) { returns = returns.suffix(Self.fewestReturns - 1) + [now] }
        pastBoots = pastBoots.filter { $0 != boot }.suffix(Self.mostBoots - 1) + [boot]
    }

    private static let fewestReturns = 3
    private static let mostBoots = 4
    /// Within which the returns must lie.
    private static let alternation: Int64 = 600_000_000_000

    /// Whether boots alternate: several gateways have this name.
    func isShared(at now: Int64) -> Bool {
        returns.count >= Self.fewestReturns && now - returns[0] < Self.alternation
    }

    /// What comes next is another recording, or another connection: nothing of before holds.
    mutating func forget() { self = GatewayClock() }
}
