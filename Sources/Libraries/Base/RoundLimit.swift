/// Lets a round of work begin at once, and then once in each pause at most, however often it is asked for. A request during the pause
/// is not lost: one round follows for all of them.
package struct RoundLimit: Hashable, Sendable {
    private let pause: Duration
    private var began: MonotonicInstant?
    /// When the next round is due; nil: none was asked for.
    package private(set) var due: MonotonicInstant?

    package init(pause: Duration) { self.pause = pause }

    /// Asks for a round.
    ///
    /// - Returns: Whether it begins now; else it is due later.
    package mutating func want(at now: MonotonicInstant) -> Bool {
        due = due ?? began.map { max(now, $0.advanced(by: pause)) } ?? now
        return begin(at: now)
    }

    /// - Returns: Whether a round that was asked for begins now.
    package mutating func begin(at now: MonotonicInstant) -> Bool {
        guard let due, due <= now else { return false }
        (began, self.due) = (now, nil)
        return true
    }
}
