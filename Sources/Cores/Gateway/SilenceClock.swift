import Base

/// The time that the presence engine is told. It decides which time counts as silence.
struct SilenceClock: Sendable {
    /// A tick that is later than this was delayed by a stopped process, a busy machine or a long turn of the loop. A
    /// turn takes no longer than this.
    static let tolerated: Duration = .milliseconds(100)

    /// A tick that came too late.
    struct Late: Hashable {
        /// By how much it was late.
        let duration: Duration
        /// How much of that does not count as silence.
        let uncounted: Duration
    }

    /// The last instant that the engine was told.
    private var told = MonotonicInstant.zero
    /// Whether the latest tick was late.
    private var wasLate = false

    /// The instant of an input that is not a tick.
    ///
    /// A beacon leaves by silence only at a tick: before that, a report of it may wait in a socket. So for all other
    /// inputs the engine's time stops before the first leave that is due.
    ///
    /// - Parameters:
    ///   - leave: When the first leave is due.
    ///   - absent: How long no receiver listened before the input: it delays the leave.
    mutating func instant(
        at now: MonotonicInstant, before leave: MonotonicInstant?, absent: Duration = .zero
    ) -> MonotonicInstant {
        var instant = now
        if let leave, leave <= now {
            instant = min(now, MonotonicInstant(nanoseconds: leave.nanoseconds &+ absent.nanoseconds &- 1))
        }
        told = max(told, instant)
        return told
    }

    /// A tick, for which the first leave was due.
    ///
    /// For as long as a tick is late, no report was handled. That time does not count as silence. Where the tick before
    /// was late too, it counts as far as any tick may be late: else, on a machine where every tick is late, time would
    /// only pass from one deadline to the next, and with many beacons hardly at all.
    ///
    /// - Returns: nil if it is not too late: all time counts.
    mutating func tick(at now: MonotonicInstant, leave: MonotonicInstant?) -> Late? {
        told = now
        let duration = leave.map { $0.duration(to: now) } ?? .zero
        let isLate = duration > Self.tolerated
        defer { wasLate = isLate }
        return isLate ? Late(duration: duration, uncounted: duration - (wasLate ? Self.tolerated : .zero)) : nil
    }

    /// An absence from this length on is reported in the log.
    static let notableAbsence: Duration = .milliseconds(200)

    /// The line of the log for a time in which no receiver listened.
    static func report(absence: Duration) -> [Gateway.Effect] {
        guard absence >= notableAbsence else { return [] }
        let text =
            "no receiver listened for \(absence.nanoseconds / 1_000_000_000) s: "
            + "the machine was suspended, or this program did not run"
        return [.log(LogEntry(absence < .seconds(5) ? .info : .notice, "absence", text))]
    }
}
