import Base
import Runtime
import Testing

@Suite struct LogLimiterTests {
    private func at(_ seconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }

    @Test func `the first line of a kind is written and the rest of the minute suppressed`() {
        var limiter = LogLimiter()
        #expect(limiter.admit("a", at: at(0)) == .write(suppressed: 0))
        #expect(limiter.admit("a", at: at(1)) == .suppress)
        #expect(limiter.admit("a", at: at(59)) == .suppress)
        #expect(limiter.suppressedTotal == 2)
    }

    @Test func `the next line after a minute tells how many were left out`() {
        var limiter = LogLimiter()
        for second in 0..<60 { _ = limiter.admit("a", at: at(Int64(second))) }
        #expect(limiter.admit("a", at: at(60)) == .write(suppressed: 59))
        #expect(limiter.admit("a", at: at(120)) == .write(suppressed: 0))
    }

    @Test func `kinds do not suppress each other`() {
        var limiter = LogLimiter()
        _ = limiter.admit("a", at: at(0))
        #expect(limiter.admit("b", at: at(0)) == .write(suppressed: 0))
    }

    @Test func `of mistakes, ten different texts of a kind are written in a minute, and repeated ones are counted`() {
        var limiter = LogLimiter()
        func admit(_ text: String, _ second: Int64) -> LogLimiter.Decision {
            limiter.admit("command-refused owntracks/jane/pi", text: text, of: 10, at: at(second))
        }
        for number in 0..<10 {
            #expect(admit("mistake \(number)", 0) == .write(suppressed: 0))
            #expect(admit("mistake \(number)", 1) == .suppress)
        }
        #expect(admit("mistake 10", 2) == .suppress)
        #expect(
            limiter.admit("command-refused owntracks/jane/car", text: "a", of: 10, at: at(2)) == .write(suppressed: 0))
        // The next minute begins anew, and tells what was left out.
        #expect(admit("mistake 0", 60) == .write(suppressed: 11))
        #expect(admit("mistake 1", 60) == .write(suppressed: 0))
    }

    @Test func `more kinds than there is room for make the oldest forgotten, not the memory grow`() {
        var limiter = LogLimiter(capacity: 2)
        _ = limiter.admit("a", at: at(0))
        _ = limiter.admit("b", at: at(1))
        _ = limiter.admit("c", at: at(2))
        #expect(limiter.admit("b", at: at(3)) == .suppress)
        #expect(limiter.admit("a", at: at(3)) == .write(suppressed: 0))
    }

    @Test func `of all kinds together only so many lines are written in a minute, and the rest is counted`() {
        var limiter = LogLimiter(lines: 3)
        for _ in 0..<3 { #expect(limiter.admitLine(at: at(0)) == .write(leftOut: 0)) }
        for _ in 0..<1000 { #expect(limiter.admitLine(at: at(59)) == .leaveOut) }
        #expect(limiter.suppressedTotal == 1000)
        #expect(limiter.admitLine(at: at(60)) == .write(leftOut: 1000))
        #expect(limiter.admitLine(at: at(120)) == .write(leftOut: 0))
    }

    @Test(arguments: [LogLimiter.Budget.general, .transitions, .refusals])
    func `lines of one budget take no place from those of the others`(budget: LogLimiter.Budget) {
        var limiter = LogLimiter(lines: 3)
        for _ in 0..<1000 { _ = limiter.admitLine(at: at(0), of: budget) }
        for other in [LogLimiter.Budget.general, .transitions, .refusals] {
            let expected: LogLimiter.LineDecision = other == budget ? .leaveOut : .write(leftOut: 0)
            let decision = limiter.admitLine(at: at(1), of: other)
            #expect(decision == expected)
        }
        #expect(limiter.admitLine(at: at(60), of: budget) == .write(leftOut: 998))
    }
}
