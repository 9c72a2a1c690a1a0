/// How long to wait before the next attempt: 1, 2, 4 ... 64 seconds, each with jitter, so that many gateways do not
/// connect to a broker at the same moment when it returns.
package struct Backoff: Hashable, Sendable {
    package static let first: Duration = .seconds(1)
    /// The longest delay, without jitter.
    package static let longest: Duration = .seconds(64)
    /// A connection that lasted this long counts as a success. A broker that accepts a login and closes the connection
    /// at once would otherwise be tried every second for ever.
    package static let lasting: Duration = .seconds(10)
    /// The share of the delay by which it may be shorter or longer.
    package static let jitter = 0.2

    /// Attempts since the last lasting connection.
    package private(set) var failures = 0

    /// The first delay; tests of many attempts use a shorter one.
    private let unit: Duration

    package init(unit: Duration = Self.first) { self.unit = unit }

    /// The delay before the next attempt, after one failed or a connection ended.
    package mutating func nextDelay(using generator: inout some RandomNumberGenerator) -> Duration {
        let base = min(unit * (1 << min(failures, 32)), Self.longest)
        failures += 1
        // `Double.random` may draw repeatedly, and would not return with a constant generator of a test.
        let share = Double(generator.next() >> 11) / Double(UInt64(1) << 53)
        return base * (1 - Self.jitter + 2 * Self.jitter * share)
    }

    /// Begins again at the first delay if the connection that ended had lasted long enough.
    package mutating func connectionEnded(after duration: Duration) {
        if duration >= Self.lasting { failures = 0 }
    }
}
