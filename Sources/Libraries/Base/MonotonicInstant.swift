/// A point in time on the clock of all presence decisions: nanoseconds of CLOCK_BOOTTIME, which runs during suspend and
/// never jumps. Wall time is used only for time stamps; the two types do not mix.
public struct MonotonicInstant: InstantProtocol, Hashable, Sendable, BitwiseCopyable {
    /// Nanoseconds since the machine booted (or since the start of a capture being replayed).
    public var nanoseconds: Int64

    /// - Parameter nanoseconds: Since the machine booted, or since the start of a capture. Any value is allowed.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The origin of the clock.
    public static let zero = MonotonicInstant(nanoseconds: 0)

    /// The instant after this duration; before it for a negative one. It wraps around beyond 292 years.
    public func advanced(by duration: Duration) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: nanoseconds &+ duration.nanoseconds)
    }

    /// The time from this instant to the other; negative if the other is earlier.
    public func duration(to other: MonotonicInstant) -> Duration {
        .nanoseconds(other.nanoseconds &- nanoseconds)
    }

    /// The time to `end` for `poll`: rounded up, so that it does not return early; 0 if it has passed.
    package func milliseconds(until end: MonotonicInstant) -> Int32 {
        let left = max(0, duration(to: end).nanoseconds)
        return Int32(clamping: left / 1_000_000 + (left % 1_000_000 > 0 ? 1 : 0))
    }

    /// Whether the left instant is earlier.
    public static func < (lhs: MonotonicInstant, rhs: MonotonicInstant) -> Bool {
        lhs.nanoseconds < rhs.nanoseconds
    }
}

extension Duration {
    /// The whole duration in nanoseconds, clamped to what 64 bits hold (292 years).
    package var nanoseconds: Int64 {
        // Below nine seconds one division does what `components` needs 180 instructions for.
        let few = Int64(truncatingIfNeeded: attoseconds)
        if Int128(few) == attoseconds { return few / 1_000_000_000 }
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        guard !carried else { return seconds < 0 ? .min : .max }
        return sum
    }

    /// The duration in seconds, for display and for statistics.
    package var inSeconds: Double {
        Double(nanoseconds) / 1e9
    }
}
