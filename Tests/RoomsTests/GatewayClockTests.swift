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
        return judge(sequence, made: made, arrives: arrives)
    }

    private mutating func judge(_ sequence: Int64, made: Double, arrives: Double) -> GatewayClock.Verdict {
        let second = HeardSecond(
            startID: "a", sequence: sequence, at: .seconds(made), listening: .seconds(1), reports: 1, readings: [])
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
        for index in 0..<60 {
            let made = 60 + Double(index)
            let arrives = 140 + Double(index) * interval
            #expect(judge(made: made, arrives: arrives) == (arrives - made > 5.1 ? .late : .fresh), "\(index)")
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

    /// The forged messages: how many, the first number, and when they say that they were made.
    @Test(
        arguments: [(1, 1 << 62, 59.5), (1, 1 << 62, 4e9), (1, 1 << 62, 0), (1, 62, 59.5), (20, 1 << 40, 59.5)]
            as [(Int, Int64, Double)])
    mutating func `Messages with numbers that the gateway has not reached mute it for two messages`(
        _ count: Int, _ number: Int64, _ made: Double
    ) {
        begin()
        for index in 0..<count {
            _ = judge(number + Int64(index), made: made + Double(index) / 1000, arrives: 59.6 + Double(index) / 1000)
        }
        let verdicts = (60..<66).map { judge(made: Double($0), arrives: Double($0) + 0.1) }
        #expect(verdicts == [.repeated, .repeated, .fresh, .fresh, .fresh, .fresh])
    }

    @Test mutating func `Such messages that come again and again leave the gateway a part of its own`() {
        begin()
        var fresh = 0
        for second in 60..<120 {
            if second % 10 == 0 { _ = judge(1 << 40 + Int64(second), made: Double(second), arrives: Double(second)) }
            if judge(made: Double(second), arrives: Double(second) + 0.1) == .fresh { fresh += 1 }
        }
        #expect(fresh == 48)
    }

    @Test(arguments: [true, false])
    mutating func `What is sent once more is repeated, also what was lost the first time`(wasLost: Bool) {
        begin()
        if wasLost {
            sequence += 20
        } else {
            for second in 60..<80 { _ = judge(made: Double(second), arrives: Double(second)) }
        }
        #expect(judge(made: 80, arrives: 80.1) == .fresh)
        for second in 60..<80 {
            #expect(judge(Int64(second + 1), made: Double(second), arrives: Double(second) + 21) == .repeated)
        }
        #expect(judge(made: 110, arrives: 110.1) == .fresh)
    }
}
