/// The delays between attempts: each is twice the one before, up to a limit.
///
/// Without arguments the delays are those of a connection to a server: 1, 2, 4 ... 64 seconds.
package struct Backoff: Hashable, Sendable {
    /// The first delay of a connection to a server.
    package static let first: Duration = .seconds(1)
    /// The longest delay of a connection to a server, without jitter.
    package static let longest: Duration = .seconds(64)
    /// A connection that lasted this long counts as a success. A broker that accepts a login and closes the connection
    /// at once would otherwise be tried every second for ever.
    package static let lasting: Duration = .seconds(10)
    /// The share by which `nextDelay` may be shorter or longer than the delay.
    package static let jitter = 0.2

    private let first: Duration
    private let longest: Duration
    /// Failures since the last success.
    package private(set) var failures = 0

    package init(from first: Duration = Self.first, to longest: Duration = Self.longest) {
        self.first = first
        self.longest = longest
    }

    /// The delay before the next attempt.
    package var delay: Duration { min(first * (1 << min(failures, 32)), longest) }

    /// An attempt failed. The next delay is longer.
    package mutating func failed() { failures += 1 }

    /// The delay before the next attempt, after one failed.
    package mutating func nextDelay() -> Duration {
        defer { failed() }
        return delay
    }

    /// The same with jitter, so that many gateways do not connect to a broker at the same moment when it returns.
    package mutating func nextDelay(using generator: inout some RandomNumberGenerator) -> Duration {
        // `Double.random` may draw repeatedly, and would not return with a constant generator of a test.
        let share = Double(generator.next() >> 11) / Double(UInt64(1) << 53)
        return nextDelay() * (1 - Self.jitter + 2 * Self.jitter * share)
    }

    /// An attempt succeeded. The next delay is the first.
    package mutating func reset() { failures = 0 }

    /// Begins again at the first delay if the connection that ended had lasted long enough.
    package mutating func connectionEnded(after duration: Duration) {
        if duration >= Self.lasting { reset() }
    }
}
