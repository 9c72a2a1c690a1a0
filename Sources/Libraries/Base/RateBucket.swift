/// Admits so many events at once, and then one in each period: what a client that may publish on a topic can cause.
package struct RateBucket: Hashable, Sendable {
    private let capacity: Int
    private let period: Duration
    /// When the bucket is full again.
    private var full = MonotonicInstant.zero

    /// - Parameters:
    ///   - capacity: Events that are admitted at once, at least 1.
    ///   - period: The time after which one more is admitted.
    package init(capacity: Int, period: Duration) {
        self.capacity = max(1, capacity)
        self.period = period
    }

    /// - Returns: Whether one more event is admitted; it counts then.
    package mutating func admits(at now: MonotonicInstant) -> Bool {
        let next = max(full, now).advanced(by: period)
        guard now.duration(to: next) <= period * capacity else { return false }
        full = next
        return true
    }
}
