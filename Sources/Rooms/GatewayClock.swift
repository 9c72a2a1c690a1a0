import Base
import Beacon

/// Relates a gateway's monotonic clock to the service's: the least delay seen is taken for none.
struct GatewayClock: Sendable {
    /// Readings that are older are worth nothing.
    static let oldest: Int64 = 5_000_000_000
    /// How fast the estimate follows a gateway whose clock runs slow: 200 parts per million.
    private static let drift: Int64 = 5_000

    private var boot = ""
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

    /// What comes next is another recording, or another connection: nothing of before holds.
    mutating func forget() { self = GatewayClock() }
}
