import Base
import Messaging
import Testing

@testable import Shell

@Suite struct SecondConnectionWatchTests {
    private var watch = SecondConnectionWatch()

    private static func instant(_ seconds: Double) -> MonotonicInstant { .zero.advanced(by: .seconds(seconds)) }
    private static let up = BrokerEvent.connected(sessionPresent: false)
    private static func down(_ failure: BrokerFailure = .closed(code: nil)) -> BrokerEvent {
        .disconnected(failure, retryIn: .seconds(1))
    }

    private mutating func first(_ event: BrokerEvent, at seconds: Double) -> String? {
        watch.handleFirst(event, at: Self.instant(seconds))
    }

    private mutating func second(_ event: BrokerEvent, at seconds: Double) -> String? {
        watch.handleSecond(event, at: Self.instant(seconds))
    }

    @Test(arguments: [
        (BrokerFailure.notAccepted(code: 2), true), (.notAccepted(code: 0x85), true), (.notAccepted(code: 5), true),
        (.closed(code: nil), true), (.unreachable("no"), false), (.silent, false), (.tls("no"), false),
        (.notAccepted(code: 0x88), false),
    ])
    mutating func `A second connection that is refused twice while the first one stands is not admitted`(
        failure: BrokerFailure, isSign: Bool
    ) {
        _ = first(Self.up, at: 0)
        let verdicts = [1.0, 2, 4].map { second(Self.down(failure), at: $0) != nil }
        #expect(verdicts == [false, isSign, isSign])
    }

    @Test mutating func `A broker that is away refuses both`() {
        _ = first(Self.up, at: 0)
        _ = first(Self.down(), at: 1)
        let verdicts = [1.0, 2, 4].compactMap { second(Self.down(), at: $0) }
        #expect(verdicts.isEmpty)
    }

    @Test mutating func `A refusal between acceptances is none in a row`() {
        _ = first(Self.up, at: 0)
        var verdicts: [String?] = []
        for start in [0.0, 100, 200] {
            verdicts.append(second(Self.down(), at: start))
            verdicts.append(second(Self.up, at: start + 1))
            verdicts.append(second(Self.down(), at: start + 50))
        }
        #expect(verdicts.allSatisfy { $0 == nil })
    }

    @Test mutating func `Connections that end each other have one client id`() {
        _ = first(Self.up, at: 0)
        var verdicts: [Bool] = []
        for start in [1.0, 11] {
            _ = second(Self.up, at: start)
            verdicts.append(first(Self.down(.closed(code: 0x8e)), at: start + 0.1) != nil)
            _ = first(Self.up, at: start + 2)
            verdicts.append(second(Self.down(.closed(code: 0x8e)), at: start + 2.1) != nil)
        }
        #expect(verdicts == [false, false, false, true])
    }

    @Test mutating func `They have one client id also if each end is reported before the acceptance`() {
        _ = first(Self.up, at: 0)
        var verdicts: [Bool] = []
        for start in [1.0, 11] {
            verdicts.append(first(Self.down(.closed(code: 0x8e)), at: start) != nil)
            verdicts.append(second(Self.up, at: start + 0.1) != nil)
            verdicts.append(second(Self.down(.closed(code: 0x8e)), at: start + 2) != nil)
            verdicts.append(first(Self.up, at: start + 2.1) != nil)
        }
        #expect(verdicts == [false, false, false, false, false, false, false, true])
    }

    @Test mutating func `Connections that the broker ends for messages of their own have client ids of their own`() {
        var verdicts: [String?] = []
        // Each is accepted, sends what the broker does not allow, and tries again a while later. All pauses occur.
        for round in 0..<40 {
            let (start, pause) = (Double(round) * 5, Double(round) * 0.05)
            verdicts.append(first(Self.up, at: start))
            verdicts.append(first(Self.down(), at: start + 0.05))
            verdicts.append(second(Self.up, at: start + 0.05 + pause))
            verdicts.append(second(Self.down(), at: start + 0.1 + pause))
        }
        #expect(verdicts.allSatisfy { $0 == nil })
    }

    @Test mutating func `An end that no acceptance explains speaks against those that one seems to explain`() {
        var verdicts: [String?] = []
        for start in [0.0, 3, 6, 9] {
            verdicts.append(first(Self.up, at: start))
            verdicts.append(first(Self.down(), at: start + 0.05))
            verdicts.append(second(Self.up, at: start + 0.1))
            verdicts.append(second(Self.down(), at: start + 0.15))
            verdicts.append(first(Self.up, at: start + 0.2))
            verdicts.append(first(Self.down(), at: start + 0.25))
        }
        #expect(verdicts.allSatisfy { $0 == nil })
    }

    @Test mutating func `A second connection that ends by itself beside the first is not ended by it`() {
        var verdicts: [String?] = []
        for start in [0.0, 3, 6, 9, 12] {
            verdicts.append(second(Self.up, at: start))
            verdicts.append(first(Self.up, at: start + 0.2))
            verdicts.append(first(Self.down(), at: start + 0.4))
            verdicts.append(first(Self.up, at: start + 0.5))
            verdicts.append(second(Self.down(), at: start + 1.5))
            verdicts.append(first(Self.down(), at: start + 1.7))
        }
        #expect(verdicts.allSatisfy { $0 == nil })
    }

    @Test mutating func `A broker that restarts often and quickly is not taken for one either`() {
        var verdicts: [String?] = []
        for start in [0.0, 20, 40, 60] {
            verdicts.append(first(Self.up, at: start))
            verdicts.append(second(Self.up, at: start + 0.1))
            verdicts.append(first(Self.down(), at: start + 19))
            verdicts.append(second(Self.down(), at: start + 19))
        }
        #expect(verdicts.allSatisfy { $0 == nil })
    }

    @Test mutating func `Another program with the client id of the first connection is not the second connection`() {
        _ = second(Self.up, at: 0)
        var verdicts: [String?] = []
        for start in [10.0, 20, 30, 40] {
            _ = first(Self.up, at: start)
            verdicts.append(first(Self.down(.closed(code: 0x8e)), at: start + 5))
        }
        #expect(verdicts.allSatisfy { $0 == nil })
    }

    @Test mutating func `A broker that restarts often is not taken for one that admits one connection`() {
        var verdicts: [String?] = []
        for start in [0.0, 30, 60, 90] {
            _ = first(Self.up, at: start)
            _ = second(Self.up, at: start + 0.1)
            verdicts.append(first(Self.down(), at: start + 20))
            verdicts.append(second(Self.down(), at: start + 20))
        }
        #expect(verdicts.allSatisfy { $0 == nil })
    }
}
