import Base
import SiteProtocol
import Testing

@testable import Rooms

/// Which messages are too late to count.
@Suite struct GatewayClockTests {
    private var clock = GatewayClock()
    private var sequence: Int64 = 0

    /// Judges a message that was made and that arrives at these times, in seconds.
    private mutating func judge(made: Double, arrives: Double) -> GatewayClock.Verdict {
        sequence += 1
        let second = HeardSecond(
            boot: "a", sequence: sequence, at: .seconds(made), listening: .seconds(1), reports: 1, readings: [])
        return clock.judge(second, at: .zero.advanced(by: .seconds(arrives)))
    }

    /// A minute of messages in time.
    private mutating func begin() {
        for second in 0..<60 { #expect(judge(made: Double(second), arrives: Double(second) + 0.1) == .fresh) }
    }

    @Test mutating func `A clock that stood still for 20 s is known after ten seconds`() {
        begin()
        let verdicts = (60..<80).map { judge(made: Double($0), arrives: Double($0) + 20.1 + Double($0 % 3) * 0.1) }
        #expect(verdicts == Array(repeating: .late, count: 10) + Array(repeating: .fresh, count: 10))
    }

    @Test mutating func `After the change of a clock a backlog is late again`() {
        begin()
        for second in 60..<80 { _ = judge(made: Double(second), arrives: Double(second) + 20) }
        #expect(judge(made: 80, arrives: 110) == .late)
    }

    @Test(arguments: [0.01, 0.5, 0.9])
    mutating func `A backlog arrives faster than it was made, and is late to its end`(interval: Double) {
        begin()
        for place in 0..<60 {
            let made = 60 + Double(place)
            let arrives = 140 + Double(place) * interval
            #expect(judge(made: made, arrives: arrives) == (arrives - made > 5.1 ? .late : .fresh), "\(place)")
        }
    }

    @Test mutating func `While messages are missing nothing is known of a clock`() {
        begin()
        for second in 60..<120 {
            if second % 5 == 0 { sequence += 1 }
            #expect(judge(made: Double(second), arrives: Double(second) + 20) == .late)
        }
    }

    @Test mutating func `Two messages that are late by the same time show nothing`() {
        begin()
        #expect(judge(made: 60, arrives: 80) == .late)
        #expect(judge(made: 72, arrives: 92) == .late)
        #expect(judge(made: 84, arrives: 104) == .fresh)
    }

    /// As chrony corrects a clock: 8 % for 80 s.
    @Test mutating func `A clock that is slewed is known ten seconds after its end`() {
        begin()
        var late: [Int] = []
        for second in 60..<200 {
            let slewed = 0.08 * min(80, Double(second - 60))
            if judge(made: Double(second), arrives: Double(second) + 0.1 + slewed) == .late { late.append(second) }
        }
        #expect((late.last ?? 0) <= 150, "\(late)")
    }
}
