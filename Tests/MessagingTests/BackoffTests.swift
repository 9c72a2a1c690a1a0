import Base
import Testing

/// Gives the same number again and again: 0 is the lowest of every range, `UInt64.max` the highest.
private struct FixedGenerator: RandomNumberGenerator {
    let value: UInt64
    mutating func next() -> UInt64 { value }
}

@Suite struct BackoffTests {
    @Test func `Delays double from one second to sixty-four and stay there`() {
        var backoff = Backoff()
        var middle = FixedGenerator(value: 1 << 63)
        let delays = (0..<9).map { _ in backoff.nextDelay(using: &middle) }
        let expected: [Double] = [1, 2, 4, 8, 16, 32, 64, 64, 64]
        for (delay, expected) in zip(delays, expected) {
            #expect(abs(delay / .seconds(1) - expected) < 0.001)
        }
    }

    @Test(arguments: [(UInt64.zero, 0.8), (.max, 1.2)])
    func `Jitter shortens or lengthens a delay by a fifth at most`(random: UInt64, factor: Double) {
        var backoff = Backoff()
        var generator = FixedGenerator(value: random)
        for base in [1.0, 2, 4, 8, 16, 32, 64, 64] {
            #expect(abs(backoff.nextDelay(using: &generator) / .seconds(1) - base * factor) < 0.001)
        }
    }

    @Test func `After a connection that lasted, delays begin again at one second`() {
        var backoff = Backoff()
        var middle = FixedGenerator(value: 1 << 63)
        for _ in 0..<5 { _ = backoff.nextDelay(using: &middle) }
        backoff.connectionEnded(after: Backoff.lasting)
        #expect(abs(backoff.nextDelay(using: &middle) / .seconds(1) - 1) < 0.001)
    }

    @Test func `After a connection that did not last, delays go on growing`() {
        var backoff = Backoff()
        var middle = FixedGenerator(value: 1 << 63)
        for _ in 0..<3 { _ = backoff.nextDelay(using: &middle) }
        backoff.connectionEnded(after: Backoff.lasting - .milliseconds(1))
        #expect(abs(backoff.nextDelay(using: &middle) / .seconds(1) - 8) < 0.001)
    }

    @Test func `A delay stays bounded after any number of failures`() {
        var backoff = Backoff()
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<10_000 {
            #expect(backoff.nextDelay(using: &generator) <= Backoff.longest * (1 + Backoff.jitter))
        }
    }
}
