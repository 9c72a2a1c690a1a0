/// How long to wait before the next attempt: 1, 2, 4 ... 64 seconds, each with jitter, so that a house full
/// of gateways does not fall on a broker at once when it comes back.
package struct Backoff: Hashable, Sendable {
    package static let first: Duration = .seconds(1)
    /// A broker that is back is found after this long at most, plus jitter.
    package static let longest: Duration = .seconds(64)
    /// A connection that lasted this long was a good one. A shorter one was not: a broker that accepts a
    /// login and drops the connection at once would otherwise be tried every second for ever.
    package static let lasting: Duration = .seconds(10)
    /// The share of the delay by which it may be shorter or longer.
    package static let jitter = 0.2

    /// Attempts since the last lasting connection.
    package private(set) var failures = 0

    /// The first delay; tests of what happens after many make it shorter.
    private let unit: Duration

    package init(unit: Duration = Self.first) { self.unit = unit }

    /// The delay before the next attempt, after one failed or a connection ended.
    package mutating func nextDelay(using generator: inout some RandomNumberGenerator) -> Duration {
        let base = min(unit * (1 << min(failures, 32)), Self.longest)
        failures += 1
        // Not `Double.random`, which may draw again and again: with a generator that
        // a test has fixed, it would not return.
        let share = Double(generator.next() >> 11) / Double(UInt64(1) << 53)
        return base * (1 - Self.jitter + 2 * Self.jitter * share)
    }

    /// Begins again at one second if the connection that just ended had lasted.
    package mutating func connectionEnded(after duration: Duration) {
        if duration >= Self.lasting { failures = 0 }
    }
}
