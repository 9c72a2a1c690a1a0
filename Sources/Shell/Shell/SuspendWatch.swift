package import Base

/// Detects suspends of the machine between two inputs.
package struct SuspendWatch {
    /// A suspend shorter than this does not matter, so two closer inputs need no check.
    static let shortestAbsence: Duration = .milliseconds(200)

    var lastInput: MonotonicInstant?
    private var suspended: Duration

    package init(suspended: Duration) { self.suspended = suspended }

    /// - Parameter suspended: Reads the total suspended time of the machine. It is called only if a check is needed.
    /// - Returns: The suspended time since the last input; nil if the machine was not suspended.
    package mutating func absence(at now: MonotonicInstant, suspended read: () -> Duration) -> Duration? {
        let last = lastInput ?? now
        lastInput = max(now, last)
        guard last.duration(to: now) >= Self.shortestAbsence else { return nil }
        return absence(total: read())
    }

    mutating func absence(total: Duration) -> Duration? {
        let absence = total - suspended
        suspended = total
        return absence >= Self.shortestAbsence ? absence : nil
    }
}
