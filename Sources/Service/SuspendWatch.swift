import Base

/// Detects suspends of the machine between two inputs.
struct SuspendWatch {
    /// A suspend shorter than this does not matter, so two closer inputs need no check.
    private static let shortestAbsence: Duration = .milliseconds(200)

    private var lastInput: MonotonicInstant?
    private var suspended: Duration

    init(suspended: Duration) { self.suspended = suspended }

    /// - Parameter suspended: Reads for how long the machine has been suspended. It is called only if a check is
    ///   needed.
    /// - Returns: for how long the machine was suspended since the last input; nil if it was not.
    mutating func absence(at now: MonotonicInstant, suspended read: () -> Duration) -> Duration? {
        let last = lastInput ?? now
        lastInput = max(now, last)
        guard last.duration(to: now) >= Self.shortestAbsence else { return nil }
        let total = read()
        let absence = total - suspended
        suspended = total
        return absence >= Self.shortestAbsence ? absence : nil
    }
}
