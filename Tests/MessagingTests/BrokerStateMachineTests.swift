import Base
import Testing

@testable import Messaging

/// Jitter of nothing.
private struct Middle: RandomNumberGenerator {
    mutating func next() -> UInt64 { 1 << 63 }
}

/// The machine with the time in seconds, and what it answers.
private struct Broker {
    typealias Action = BrokerStateMachine.Action

    private(set) var machine: BrokerStateMachine
    private var generator = Middle()
    /// What was told for the record of refusals, apart from the rest.
    private(set) var record: [BrokerEvent] = []

    init(_ hosts: [String] = ["h"], _ change: (inout BrokerSettings) -> Void = { _ in }) {
        var settings = BrokerSettings(hosts: hosts, port: 1883, clientID: "c")
        change(&settings)
        machine = BrokerStateMachine(settings)
    }

    private static func instant(_ seconds: Double) -> MonotonicInstant { .zero.advanced(by: .seconds(seconds)) }

    static func message(
        _ number: Int64, _ kind: Publication.Kind = .other, topic: String = "t", qos: QoS = .atLeastOnce
    ) -> QueuedPublication {
        QueuedPublication(
            token: MessageToken(rawValue: number), publication: Publication(kind, topic: topic, payload: [], qos: qos))
    }

    mutating func order(
        _ messages: [Int64] = [], _ filters: Set<String>? = nil, stopBy: Double? = nil, at now: Double
    ) -> [Action] {
        machine.ordered(
            messages.map { Self.message($0) }, subscriptions: filters, stopBy: stopBy.map(Self.instant),
            at: Self.instant(now))
    }

    @discardableResult mutating func order(_ messages: [QueuedPublication]) -> [Action] {
        machine.ordered(messages, subscriptions: nil, stopBy: nil, at: .zero)
    }

    mutating func next(at now: Double) -> BrokerStateMachine.Step { machine.next(at: Self.instant(now)) }

    /// How the machine connects at this time; nil: it does not.
    mutating func attempt(at now: Double) -> ConnectionAttempt? {
        if case .connect(let attempt) = next(at: now) { attempt } else { nil }
    }

    mutating func reached(at now: Double) { machine.reached(at: Self.instant(now)) }

    mutating func accepted(at now: Double) -> [Action] {
        machine.accepted(sessionPresent: false, at: Self.instant(now))
    }

    /// From nothing to an accepted connection.
    mutating func connect(at now: Double) -> [Action] {
        _ = next(at: now)
        reached(at: now)
        return accepted(at: now)
    }

    mutating func connect(_ limits: BrokerLimits, at now: Double) -> [Action] {
        _ = next(at: now)
        reached(at: now)
        return machine.accepted(sessionPresent: false, limits: limits, at: Self.instant(now))
    }

    mutating func ended(_ failure: BrokerFailure, at now: Double) -> [Action] {
        split(machine.ended(failure, at: Self.instant(now), using: &generator))
    }

    /// Hands over all messages that are due; a message's packet identifier is its token.
    mutating func send(at now: Double) -> [Int64] {
        var sent: [Int64] = []
        while let message = machine.nextMessage(at: Self.instant(now)) {
            machine.handedOver(message, messageID: Int32(message.token.rawValue), at: Self.instant(now))
            sent.append(message.token.rawValue)
        }
        return sent
    }

    mutating func answered(_ number: Int32, code: UInt8 = 0, at now: Double) -> [Action] {
        split(machine.answered(messageID: number, code: code, at: Self.instant(now)))
    }

    /// Moves what is for the record of refusals there.
    private mutating func split(_ actions: [Action]) -> [Action] {
        var rest: [Action] = []
        for action in actions {
            switch action {
            case .tell(let event):
                switch event {
                case .refusal, .admitted: record.append(event)
                default: rest.append(action)
                }
            default: rest.append(action)
            }
        }
        return rest
    }

    /// A broker in whose outbox these messages were, each of its topic, and that has got what it may at 0 s.
    static func withOutbox(_ topics: KeyValuePairs<Int64, String>) -> Broker {
        var broker = Broker { $0.hasOutbox = true }
        broker.order(topics.map { message($0.key, topic: $0.value) })
        _ = broker.connect(at: 0)
        _ = broker.send(at: 0)
        return broker
    }

    mutating func farewell(at now: Double) -> BrokerStateMachine.Farewell? { machine.farewell(at: Self.instant(now)) }

    /// Each second all that is due is sent and answered, until nothing is left, or this time.
    ///
    /// - Parameter code: The answer to a message.
    /// - Returns: The time.
    mutating func exchange(
        from start: Double, until end: Double = 1e6, _ told: inout [Action], code: (Int64) -> UInt8
    ) -> Double {
        var now = start
        while !machine.window.isEmpty, now < end {
            _ = send(at: now)
            for entry in machine.window.inFlight {
                told += answered(entry.messageID, code: code(entry.message.token.rawValue), at: now)
            }
            now += 1
        }
        return now
    }

    /// Why the connection is given up at this time.
    func givesUp(at now: Double, isWriting: Bool = false) -> BrokerFailure? {
        do throws(BrokerFailure) {
            try machine.checkAnswers(isWriting: isWriting, at: Self.instant(now))
            return nil
        } catch {
            return error
        }
    }

    /// Subscribes, and the broker answers with this.
    mutating func subscribed(_ filter: String, _ number: Int32, isGranted: Bool, at now: Double) -> [Action] {
        split(
            machine.requested(filter, messageID: number, at: Self.instant(now))
                + machine.subscribed(messageID: number, code: isGranted ? 1 : 0x87, at: Self.instant(now)))
    }

    /// The filter was sent.
    mutating func request(_ filter: String, _ number: Int32, at now: Double) {
        _ = machine.requested(filter, messageID: number, at: Self.instant(now))
    }

    mutating func dueSubscriptions(at now: Double) -> [Action] { machine.dueSubscriptions(at: Self.instant(now)) }
}

/// The same numbers in each run.
private struct Numbers {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }
}

private func acknowledged(_ number: Int64) -> BrokerStateMachine.Action {
    .tell(.acknowledged(MessageToken(rawValue: number)))
}

private func refused(_ number: Int64, _ code: UInt8) -> BrokerStateMachine.Action {
    .tell(.refused(MessageToken(rawValue: number), .byBroker(reasonCode: code)))
}

private func postponed(_ number: Int64, _ code: UInt8) -> BrokerStateMachine.Action {
    .tell(.postponed(MessageToken(rawValue: number), reasonCode: code))
}

private func failed(_ failure: BrokerFailure, _ seconds: Int64) -> BrokerStateMachine.Action {
    .tell(.disconnected(failure, retryIn: .seconds(seconds)))
}

@Suite struct BrokerStateMachineTests {
    // MARK: From attempt to attempt

    @Test func `Each attempt that fails is followed by a longer wait, and one that lasted by the first`() {
        var broker = Broker()
        for (start, delay) in [(0.0, Int64(1)), (1, 2), (3, 4), (7, 8)] {
            #expect(broker.attempt(at: start) != nil)
            let actions = broker.ended(.unreachable("no"), at: start)
            #expect(actions == [failed(.unreachable("no"), delay)])
            #expect(broker.attempt(at: start + Double(delay) - 0.001) == nil)
        }
        _ = broker.connect(at: 15)
        let actions = broker.ended(.closed(code: nil), at: 25)
        #expect(actions == [failed(.closed(code: nil), 1)])
    }

    @Test func `Of several hosts the next is tried, and this is told together with the failure`() {
        var broker = Broker(["a", "b"])
        var attempts = [broker.attempt(at: 0)?.host]
        let actions = broker.ended(.silent, at: 0)
        #expect(actions == [failed(.silent, 1), .tell(.moved(toHost: "b"))])
        attempts.append(broker.attempt(at: 1)?.host)
        #expect(attempts == ["a", "b"])
    }

    @Test func `The answer to an earlier connection accepts no later one`() {
        var broker = Broker()
        _ = broker.connect(at: 0)
        _ = broker.ended(.closed(code: nil), at: 20)
        var actions = broker.accepted(at: 20)
        #expect(actions.isEmpty, "while it waits")
        _ = broker.next(at: 30)
        actions = broker.accepted(at: 30)
        #expect(actions.isEmpty, "while the name is looked up")
        broker.reached(at: 31)
        actions = broker.accepted(at: 31)
        #expect(actions == [.tell(.connected(sessionPresent: false))])
    }

    /// How attempts at MQTT 5 end, and the levels of the attempts.
    @Test(arguments: [
        ([BrokerFailure.notAccepted(code: 1), .notAccepted(code: 1)], [MQTTProtocolLevel.v5, .v3_1_1, .v5]),
        ([.closed(code: nil), .unreachable("no")], [.v5, .v3_1_1, .v5]),
        ([.silent, .silent], [.v5, .v3_1_1, .v5]),
        ([.unreachable("no"), .keepaliveMissed], [.v5, .v5, .v5]),
        ([.notAccepted(code: 5), .tls("no")], [.v5, .v5, .v5]),
    ])
    func `MQTT 3_1_1 is tried at once with a broker that does not speak 5, and then 5 again`(
        failures: [BrokerFailure], levels: [MQTTProtocolLevel]
    ) {
        var broker = Broker { ($0.protocolLevel, $0.fallsBack) = (.v5, true) }
        var now = 0.0
        var tried: [MQTTProtocolLevel] = []
        for failure in failures + [.unreachable("no")] {
            if let attempt = broker.attempt(at: now) { tried.append(attempt.level) }
            let actions = broker.ended(failure, at: now)
            // Without a wait it is not told.
            if actions == [.discardClient] { continue }
            now += 100
        }
        #expect(tried == levels)
    }

    @Test func `A broker that has accepted 3_1_1 is spoken to like that from then on`() {
        var broker = Broker { ($0.protocolLevel, $0.fallsBack) = (.v5, true) }
        _ = broker.next(at: 0)
        _ = broker.ended(.protocolViolation, at: 0)
        _ = broker.connect(at: 0)
        for end in [20.0, 40] {
            _ = broker.ended(.closed(code: nil), at: end)
            #expect(broker.attempt(at: end + 10)?.level == .v3_1_1)
        }
    }

    // MARK: Accepting

    @Test func `A broker that does not answer within ten seconds is given up`() {
        var broker = Broker()
        _ = broker.next(at: 0)
        broker.reached(at: 5)
        #expect(broker.givesUp(at: 14.9) == nil)
        #expect(broker.givesUp(at: 15) == .silent)
        _ = broker.accepted(at: 14.9)
        #expect(broker.givesUp(at: 15) == nil)
    }

    @Test func `What is of use only on the connection before is refused, and the topics are subscribed to`() {
        var broker = Broker()
        var actions = broker.order([], ["a"], at: 0)
        #expect(actions.isEmpty)
        broker.order([Broker.message(1, .transient), Broker.message(2)])
        actions = broker.connect(at: 0)
        #expect(
            actions == [
                .tell(.refused(MessageToken(rawValue: 1), .late)), .tell(.connected(sessionPresent: false)),
                .subscribe("a"),
            ])
        let sent = broker.send(at: 1)
        #expect(sent == [2])
    }

    // MARK: For the record of refusals

    private func refusal(_ kind: Refused.Kind, _ object: String, _ reason: String) -> BrokerEvent {
        .refusal(Refused(kind, object, on: "main", because: reason))
    }

    @Test func `Each refusal of a message or a filter is told with its object, and the admission that ends it`() {
        var broker = Broker()
        broker.order((1...5).map { Broker.message($0, topic: "t") })
        _ = broker.connect(at: 0)
        _ = broker.send(at: 0)
        _ = broker.answered(1, at: 1)
        for number in [2, 3] as [Int32] { _ = broker.answered(number, code: 0x87, at: 1) }
        for number in [4, 5] as [Int32] { _ = broker.answered(number, at: 2) }
        for isGranted in [false, true, true] { _ = broker.subscribed("f", 9, isGranted: isGranted, at: 3) }
        let ended = Refused(.message, "t", on: "main", because: "")
        #expect(
            broker.record == [
                refusal(.message, "t", "not authorised"), refusal(.message, "t", "not authorised"), .admitted(ended),
                refusal(.subscription, "f", "not authorised"),
                .admitted(Refused(.subscription, "f", on: "main", because: "")),
            ])
    }

    @Test(arguments: [
        (UInt8(0x87), Refused.Kind.message), (0x95, .size), (0x9b, .size), (0x9a, .retain), (0x97, .message),
    ])
    func `The kind of a refusal follows from its code`(code: UInt8, kind: Refused.Kind) throws {
        var broker = Broker()
        _ = broker.order([1], at: 0)
        _ = broker.connect(at: 0)
        _ = broker.send(at: 0)
        _ = broker.answered(1, code: code, at: 1)
        let told = try #require(broker.record.first)
        guard case .refusal(let refused) = told else { throw TopicMissing() }
        #expect(refused.kind == kind && broker.record.count == 1)
    }

    private struct TopicMissing: Error {}

    @Test func `A message of QoS 0 is not answered, and admits no topic`() {
        var broker = Broker()
        broker.order([Broker.message(1, topic: "t"), Broker.message(2, topic: "t", qos: .atMostOnce)])
        _ = broker.connect(at: 0)
        _ = broker.send(at: 0)
        _ = broker.answered(1, code: 0x87, at: 1) + broker.answered(2, at: 1)
        #expect(broker.record.count == 1)
    }

    // MARK: Limits

    @Test(arguments: [
        (BrokerLimits(highestQoS: .atMostOnce), true), (BrokerLimits(largestPacket: 100), true),
        (BrokerLimits(retains: false), true), (.none, false),
    ])
    func `A handle of libmosquitto that has learned limits is not used for the next connection`(
        limits: BrokerLimits, isDiscarded: Bool
    ) {
        var broker = Broker()
        let accepted = broker.connect(limits, at: 0)
        #expect(accepted.contains(.tell(.limited(limits))) == isDiscarded)
        let ended = broker.ended(.closed(code: nil), at: 20)
        #expect(ended.contains(.discardClient) == isDiscarded)
        _ = broker.connect(at: 30)
        let again = broker.ended(.closed(code: nil), at: 50)
        #expect(!again.contains(.discardClient), "limits belong to one connection")
    }

    @Test func `A will that the broker refuses with the connection is lowered, once`() {
        var broker = Broker { $0.will = .init(topic: "t", payload: [], qos: .atLeastOnce, retain: true) }
        var limits = [broker.attempt(at: 0)?.willLimits]
        for code in [0x9b, 0x9a] as [UInt8] {
            let actions = broker.ended(.notAccepted(code: code), at: 0)
            #expect(actions == [.discardClient])
            limits.append(broker.attempt(at: 0)?.willLimits)
        }
        #expect(
            limits == [
                BrokerLimits.none, BrokerLimits(highestQoS: .atMostOnce),
                BrokerLimits(highestQoS: .atMostOnce, retains: false),
            ])
        let last = broker.ended(.notAccepted(code: 0x9b), at: 0)
        #expect(last == [failed(.notAccepted(code: 0x9b), 1)])
    }

    // MARK: Filters

    @Test func `A broker that ends the connection at a filter is connected to at once without it`() {
        var broker = Broker()
        _ = broker.order([], ["a", "b"], at: 0)
        let first = broker.connect(at: 0)
        #expect(first.last == .subscribe("a"))
        let second = broker.subscribed("a", 1, isGranted: true, at: 0)
        #expect(second.last == .subscribe("b"))
        broker.request("b", 2, at: 0)
        let end = broker.ended(.closed(code: nil), at: 0.1)
        #expect(end == [failed(.closed(code: nil), 0)])
        let again = broker.connect(at: 0.1)
        #expect(again.contains(.tell(.subscriptionRefused(topicFilter: "b"))) && again.last == .subscribe("a"))
        let rest = broker.subscribed("a", 1, isGranted: true, at: 0.2)
        #expect(!rest.contains(.subscribe("b")))
        let early = broker.dueSubscriptions(at: 599)
        let late = broker.dueSubscriptions(at: 601)
        #expect(early.isEmpty && late == [.subscribe("b")])
    }

    @Test func `If the broker is away after such an end, it ended all connections, and no filter is the reason`() {
        var broker = Broker()
        _ = broker.order([], ["a"], at: 0)
        _ = broker.connect(at: 0)
        broker.request("a", 1, at: 0)
        _ = broker.ended(.closed(code: nil), at: 0.1)
        _ = broker.attempt(at: 0.1)
        _ = broker.ended(.unreachable("no"), at: 0.1)
        let again = broker.connect(at: 10)
        #expect(again == [.tell(.connected(sessionPresent: false)), .subscribe("a")])
    }

    @Test func `Messages wait for the answers to the first subscriptions, for a second at most`() {
        var broker = Broker()
        _ = broker.order([1], ["a"], at: 0)
        _ = broker.connect(at: 0)
        broker.request("a", 1, at: 0)
        var sent = [broker.send(at: 0.9), broker.send(at: 1)]
        #expect(sent == [[], [1]])
        broker = Broker()
        _ = broker.order([1], ["a"], at: 0)
        _ = broker.connect(at: 0)
        _ = broker.subscribed("a", 1, isGranted: true, at: 0)
        sent = [broker.send(at: 0.1)]
        #expect(sent == [[1]])
    }

    // MARK: Messages

    @Test func `Answers to messages are told, and answers to nothing are not`() {
        var broker = Broker()
        _ = broker.order([1, 2], at: 0)
        _ = broker.connect(at: 0)
        _ = broker.send(at: 0)
        let actions = broker.answered(1, at: 1) + broker.answered(7, at: 1) + broker.answered(2, code: 0x87, at: 1)
        #expect(
            actions == [
                .tell(.acknowledged(MessageToken(rawValue: 1))),
                .tell(.refused(MessageToken(rawValue: 2), .byBroker(reasonCode: 0x87))),
            ])
    }

    @Test func `A broker that answers no message for a minute is given up, unless the message has not left`() {
        var broker = Broker()
        _ = broker.connect(at: 0)
        _ = broker.order([1, 2], at: 100)
        _ = broker.send(at: 100)
        #expect(broker.givesUp(at: 160) == nil)
        #expect(broker.givesUp(at: 161, isWriting: true) == nil)
        #expect(broker.givesUp(at: 161) == .unacknowledged)
        _ = broker.answered(1, at: 150)
        #expect(broker.givesUp(at: 210) == nil)
        #expect(broker.givesUp(at: 211) == .unacknowledged)
    }

    @Test func `A message that ended two connections is sent again alone, after two seconds`() {
        var broker = Broker()
        _ = broker.order([1, 2], at: 0)
        var actions: [BrokerStateMachine.Action] = []
        for start in [0.0, 100] {
            _ = broker.connect(at: start)
            _ = broker.send(at: start)
            actions = broker.ended(.closed(code: nil), at: start + 1)
        }
        #expect(actions.first == .discardClient)
        _ = broker.connect(at: 200)
        var sent = [broker.send(at: 201.9)]
        sent.append(broker.send(at: 202))
        #expect(sent == [[], [1]])
    }

    @Test func `With TLS each connection has a handle of its own, and what was in flight is sent first`() {
        var broker = Broker { $0.tls = .init() }
        _ = broker.order([1, 2, 3], at: 0)
        _ = broker.connect(at: 0)
        _ = broker.send(at: 0)
        _ = broker.answered(1, at: 1)
        _ = broker.order([4], at: 2)
        var actions = broker.ended(.keepaliveMissed, at: 20)
        #expect(actions == [.discardClient, failed(.keepaliveMissed, 1)])
        _ = broker.connect(at: 30)
        let sent = broker.send(at: 30)
        #expect(sent == [2, 3, 4])
        actions = broker.ended(.tls("no"), at: 50)
        #expect(actions == [.discardClient, failed(.tls("no"), 1)])
    }

    @Test func `With QoS 2 in flight the handle is kept with TLS too, because its packet identifiers count`() {
        var broker = Broker { $0.tls = .init() }
        broker.order([Broker.message(1), Broker.message(2, qos: .exactlyOnce)])
        _ = broker.connect(at: 0)
        _ = broker.send(at: 0)
        var actions = broker.ended(.keepaliveMissed, at: 20)
        #expect(actions == [failed(.keepaliveMissed, 1)])
        _ = broker.connect(at: 30)
        actions = broker.answered(1, at: 31) + broker.answered(2, at: 31)
        #expect(actions.count == 2)
        actions = broker.ended(.keepaliveMissed, at: 50)
        #expect(actions == [.discardClient, failed(.keepaliveMissed, 1)])
    }

    @Test(arguments: [
        (60, false, 10), (12, false, 2), (3, false, 1), (60, true, 1),
    ])
    func `The library is looked after more seldom while nothing is on its way`(
        keepalive: Int, isSending: Bool, interval: Int
    ) {
        var broker = Broker { $0.keepalive = .seconds(keepalive) }
        #expect(broker.machine.tickInterval == .seconds(1), "not connected")
        _ = broker.connect(at: 0)
        if isSending { _ = broker.order([1], at: 0) }
        #expect(broker.machine.tickInterval == .seconds(interval))
    }

    // MARK: Refusals that may pass

    /// All codes of PUBACK and PUBREC from 0x80 on (MQTT 5, sections 3.4.2.1 and 3.5.2.1), and some that are none of theirs.
    @Test(
        arguments: [
            (0x80, true), (0x83, true), (0x91, true), (0x97, true), (0x87, false), (0x90, false), (0x99, false),
            (0x89, false), (0x92, false), (0x95, false), (0x9b, false), (0xff, false),
        ] as [(UInt8, Bool)])
    func `A refusal that may pass is told once, and the message is sent again a second later`(
        code: UInt8, mayPass: Bool
    ) {
        var broker = Broker.withOutbox([1: "t"])
        let actions = broker.answered(1, code: code, at: 1)
        #expect(actions == [mayPass ? postponed(1, code) : refused(1, code)])
        var sent = [broker.send(at: 1.9), broker.send(at: 2)]
        #expect(sent == [[], mayPass ? [1] : []])
        guard mayPass else { return }
        let second = broker.answered(1, code: code, at: 3)
        #expect(second.isEmpty)
        sent = [broker.send(at: 4.9), broker.send(at: 5)]
        #expect(sent == [[], [1]])
        let last = broker.answered(1, at: 6)
        #expect(last == [acknowledged(1)])
        #expect(broker.machine.window.isEmpty)
    }

    @Test(arguments: [(1, false), (-1, true)] as [(Int64, Bool)])
    func `A message that is in no outbox is refused, whatever the code`(number: Int64, hasOutbox: Bool) {
        var broker = Broker { $0.hasOutbox = hasOutbox }
        broker.order([Broker.message(number)])
        _ = broker.connect(at: 0)
        _ = broker.send(at: 0)
        let actions = broker.answered(Int32(number), code: 0x97, at: 1)
        #expect(actions == [refused(number, 0x97)])
        #expect(broker.machine.window.isEmpty)
    }

    @Test
    func `After a refusal that may pass the outbox is sent one by one in its order, and goes on when all is taken`() {
        var broker = Broker.withOutbox([1: "t", 2: "t", 3: "t"])
        var actions = [2, 1, 3].flatMap { broker.answered($0, code: 0x97, at: 1) }
        #expect(actions == [postponed(2, 0x97), postponed(1, 0x97), postponed(3, 0x97)])
        _ = broker.order([4, 5], at: 1)
        var sent = [broker.send(at: 1.9)]
        #expect(broker.givesUp(at: 100) == nil, "nothing is to be answered")
        actions = []
        for number: Int32 in 1...3 {
            sent.append(broker.send(at: 2))
            actions += broker.answered(number, at: 2)
        }
        sent.append(broker.send(at: 2))
        #expect(sent == [[], [1], [2], [3], [4, 5]])
        #expect(actions == [acknowledged(1), acknowledged(2), acknowledged(3)])
    }

    @Test func `A message that was taken before an earlier one of its topic is sent again after that one`() {
        var broker = Broker.withOutbox([1: "state", 2: "state", 3: "other"])
        var actions = broker.answered(1, code: 0x97, at: 1) + broker.answered(2, at: 1) + broker.answered(3, at: 1)
        #expect(actions == [postponed(1, 0x97), acknowledged(3)])
        var sent = [broker.send(at: 2)]
        actions = broker.answered(1, at: 2)
        sent.append(broker.send(at: 2))
        actions += broker.answered(2, at: 2)
        #expect(sent == [[1], [2]])
        #expect(actions == [acknowledged(1), acknowledged(2)])
    }

    @Test func `What is in no outbox does not wait for a message that was refused`() {
        var broker = Broker.withOutbox([1: "t"])
        _ = broker.answered(1, code: 0x97, at: 1)
        _ = broker.order([-1, 2, -2], at: 1)
        let sent = broker.send(at: 1)
        #expect(sent == [-1, -2])
    }

    @Test func `The order stays when the connection ends in a pause and libmosquitto is given all messages again`() {
        var broker = Broker.withOutbox([1: "t", 2: "t", 3: "t", 4: "t"])
        _ = broker.answered(2, code: 0x97, at: 1)
        // Both need a new handle.
        _ = broker.ended(.unaskedExactlyOnce, at: 1)
        _ = broker.connect(at: 20)
        var sent: [Int64] = []
        for number: Int32 in 1...4 {
            sent += broker.send(at: 20)
            _ = broker.answered(number, at: 20)
        }
        #expect(sent == [1, 2, 3, 4])
    }

    @Test func `A message that is held delays the later ones of its topic, and no others`() {
        var broker = Broker.withOutbox([1: "poison"])
        _ = broker.answered(1, code: 0x83, at: 0)
        broker.order((2...5).map { Broker.message($0, topic: $0.isMultiple(of: 2) ? "poison" : "t") })
        var sent = [broker.send(at: 0.9)]
        for number: Int32 in [3, 5] {
            sent.append(broker.send(at: 1))
            _ = broker.answered(number, at: 1)
        }
        sent.append(broker.send(at: 1))
        _ = broker.answered(1, code: 0x83, at: 1)
        _ = broker.order([7], at: 1)
        sent += [broker.send(at: 1.9), broker.send(at: 2)]
        #expect(sent == [[], [3], [5], [1], [], [7]])
    }

    @Test func `A state that is refused when a later one of its topic waits is finished, and the later one is sent`() {
        var broker = Broker { $0.hasOutbox = true }
        broker.order([Broker.message(1, .state, topic: "s"), Broker.message(2, .state, topic: "other")])
        _ = broker.connect(at: 0)
        _ = broker.send(at: 0)
        broker.order([Broker.message(3, .state, topic: "s")])
        let told = broker.answered(1, code: 0x97, at: 1) + broker.answered(2, at: 1)
        #expect(told == [postponed(1, 0x97), acknowledged(1), acknowledged(2)])
        let sent = broker.send(at: 1)
        #expect(sent == [3])
    }

    @Test func `A state replaces none of a topic that looks the same and has other bytes`() {
        var broker = Broker { $0.hasOutbox = true }
        broker.order([Broker.message(1, .state, topic: "caf\u{e9}")])
        _ = broker.connect(at: 0)
        _ = broker.send(at: 0)
        let told =
            broker.answered(1, code: 0x97, at: 1) + broker.order([Broker.message(2, .state, topic: "cafe\u{301}")])
        #expect(told == [postponed(1, 0x97)])
    }

    /// A gateway whose states are all refused, as by a quota of retained messages, has many of them before its first transition.
    @Test func `What the broker takes waits for two seconds at most, however many states it refuses`() {
        var broker = Broker.withOutbox([:])
        broker.order((1...150).map { Broker.message($0, .state, topic: "state \($0)") })
        var (told, sent): ([BrokerStateMachine.Action], [(Int64, Double)]) = ([], [])
        var now = 0.0
        while now < 7200 {
            if now == 100 || now == 3600 {
                let number = 1000 + Int64(now)
                broker.order([Broker.message(number, .transition, topic: "event")])
                sent.append((number, now))
            }
            for number in broker.send(at: now) {
                told += broker.answered(Int32(number), code: number > 150 ? 0 : 0x97, at: now)
                if told.last == acknowledged(number), let index = sent.firstIndex(where: { $0.0 == number }) {
                    sent[index].1 = now - sent[index].1
                }
            }
            now += 1
        }
        #expect(sent.map(\.1).allSatisfy { $0 <= 2 }, "\(sent)")
        #expect(!told.contains { if case .tell(.refused) = $0 { true } else { false } })
    }

    @Test func `A broker that takes some messages and ends the connection at another is tried soon`() {
        var broker = Broker { $0.hasOutbox = true }
        broker.order((1...5).map { Broker.message($0, topic: "t\($0)") })
        var (now, waits): (Double, [Double]) = (0, [])
        // Two are taken on each of two connections, and the fifth ends each further one.
        for taken in [[1, 2], [3, 4], [], [], []] as [[Int32]] {
            _ = broker.connect(at: now)
            now += 3
            _ = broker.send(at: now)
            for number in taken { _ = broker.answered(number, at: now) }
            for case .tell(.disconnected(_, let delay)) in broker.ended(.closed(code: nil), at: now) {
                waits.append((delay / .seconds(1)).rounded())
                now += delay / .seconds(1) + 0.1
            }
        }
        #expect(waits == [1, 1, 2, 4, 8])
    }

    @Test
    func `A message that is refused between others that are taken, six times over, is refused, and its topic goes on`()
    {
        var broker = Broker.withOutbox([1: "event"])
        var told = broker.answered(1, code: 0x83, at: 0)
        broker.order([Broker.message(2, .transition, topic: "event")])
        var refusals = 1
        // Each ten minutes there is a message of another topic.
        for number: Int64 in 10...20 {
            broker.order([Broker.message(number, topic: "location")])
            var now = Double(number - 10) * 600
            for _ in 0..<600 {
                for sent in broker.send(at: now) {
                    if sent == 1 { refusals += 1 }
                    told += broker.answered(Int32(sent), code: sent == 1 ? 0x83 : 0, at: now)
                }
                now += 1
            }
        }
        let last = told.firstIndex(of: refused(1, 0x83))
        #expect(last.map { told[..<$0].count } == 8, "after seven others")
        #expect(told.contains(acknowledged(2)))
        #expect(refusals < 100)
    }

    /// Each minute there are a transition, a location and a state. Nothing that the broker takes waits for long, and what it
    /// refuses does not fill the window of 200 messages. The latest state of a region is not lost.
    @Test(arguments: [["event"], ["state 0"], (0..<5).map { "state \($0)" }] as [[String]])
    func `Messages that a broker refuses for ever are replaced or set aside as fast as they come`(bad: [String]) {
        var broker = Broker { $0.hasOutbox = true }
        _ = broker.connect(at: 0)
        var open: [Int64: (topic: String, since: Int)] = [:]
        var number: Int64 = 0
        var (most, longest, wereRefused) = (0, 0, Set<String>())
        for second in 0..<86_400 {
            var told: [BrokerStateMachine.Action] = []
            if second.isMultiple(of: 60) {
                for topic in ["event", "location", "state \(second / 60 % 5)"] {
                    number += 1
                    open[number] = (topic, second)
                    let kind: Publication.Kind = topic.hasPrefix("state") ? .state : .other
                    told += broker.order([Broker.message(number, kind, topic: topic)])
                }
            }
            for sent in broker.send(at: Double(second)) {
                let isBad = bad.contains(open[sent]?.topic ?? "")
                told += broker.answered(Int32(sent), code: isBad ? 0x97 : 0, at: Double(second))
            }
            for (id, message) in open {
                let isRefused = told.contains(refused(id, 0x97))
                guard isRefused || told.contains(acknowledged(id)) else { continue }
                open[id] = nil
                if isRefused { wereRefused.insert(message.topic) }
                if !bad.contains(message.topic) { longest = max(longest, second - message.since) }
            }
            most = max(most, open.count)
        }
        // Each second one message is sent.
        #expect(longest <= 8, "\(longest) s")
        #expect(most < 20, "\(most)")
        #expect(wereRefused == Set(bad.filter { !$0.hasPrefix("state") }))
    }

    /// Two topics are refused in turn, so neither is proved to be the reason.
    @Test func `Of topics that were refused for a day, while others were taken, nothing waits any more`() {
        var broker = Broker { $0.hasOutbox = true }
        _ = broker.connect(at: 0)
        var refusedCount = 0
        for second in 0..<28 * 3600 {
            if second.isMultiple(of: 3600) {
                let first = Int64(second / 3600) * 3 + 1
                broker.order(
                    zip(first..., ["good", "bad 1", "bad 2"]).map { Broker.message($0.0, topic: $0.1) })
            }
            for sent in broker.send(at: Double(second)) {
                let told = broker.answered(Int32(sent), code: sent % 3 == 1 ? 0 : 0x97, at: Double(second))
                if told == [refused(sent, 0x97)] { refusedCount += 1 }
            }
            if second == 86_000 { #expect(refusedCount == 0) }
        }
        #expect(broker.machine.window.isEmpty && refusedCount == 2 * 28)
    }

    /// The state changes again and again, so each of its messages was refused less often than those that waited in the outage.
    @Test func `After an outage a state that stays refused delays nothing else`() {
        var broker = Broker { $0.hasOutbox = true }
        _ = broker.connect(at: 0)
        let others = (1...4).map {
            Broker.message(
                $0, $0 == 3 ? .state : .other, topic: ["event", "event", "state 2", "location"][Int($0) - 1])
        }
        broker.order(others)
        var told: [BrokerStateMachine.Action] = []
        for second in 0..<3 * 3600 {
            if second.isMultiple(of: 300) {
                told += broker.order([Broker.message(1000 + Int64(second), .state, topic: "state 1")])
            }
            for sent in broker.send(at: Double(second)) {
                let isRefused = second < 3600 || sent >= 1000
                told += broker.answered(Int32(sent), code: isRefused ? 0x97 : 0, at: Double(second))
            }
        }
        #expect(Set((1...4).map { acknowledged($0) }).isSubset(of: told))
        #expect(!told.contains { if case .tell(.refused) = $0 { true } else { false } })
    }

    /// One message was refused just before another one was taken, and then all are refused.
    @Test func `In an outage of a day and a half only what was refused for a day is set aside`() {
        var broker = Broker.withOutbox([1: "event", 2: "location"])
        var told = broker.answered(1, code: 0x97, at: 0) + broker.answered(2, at: 0)
        let outage = 38 * 3600
        var number: Int64 = 10
        for second in 0..<outage + 3600 {
            if second.isMultiple(of: 600) {
                number += 1
                broker.order([Broker.message(number, topic: "event")])
            }
            for sent in broker.send(at: Double(second)) {
                told += broker.answered(Int32(sent), code: second < outage ? 0x97 : 0, at: Double(second))
            }
        }
        let refusals = told.filter { if case .tell(.refused) = $0 { true } else { false } }
        #expect(refusals == [refused(1, 0x97)])
        #expect(Set((11...number).map { acknowledged($0) }).isSubset(of: told))
    }

    /// A quota that comes and goes: no message is guilty.
    @Test(arguments: [10, 30, 50, 70, 90])
    func `A broker that takes some messages at random, and refuses the others, gets all of them in the end`(
        percent: UInt64
    ) {
        var numbers = Numbers(state: percent)
        var broker = Broker { $0.hasOutbox = true }
        broker.order((1...200).map { Broker.message($0, topic: "\($0 % 40)") })
        _ = broker.connect(at: 0)
        var told: [BrokerStateMachine.Action] = []
        _ = broker.exchange(from: 0, until: 86_000, &told) { _ in numbers.next() % 100 < percent ? 0 : 0x97 }
        #expect(broker.machine.window.isEmpty)
        #expect(Set((1...200).map { acknowledged($0) }).isSubset(of: told))
    }

    @Test func `A stop does not wait for messages that are held, and they are no reason to let the will be published`()
    {
        var broker = Broker.withOutbox([1: "t"])
        _ = broker.answered(1, code: 0x97, at: 1)
        _ = broker.order([2, -1], stopBy: 3, at: 1)
        var ends = [broker.farewell(at: 1)]
        let sent = broker.send(at: 1)
        _ = broker.answered(-1, at: 1)
        ends.append(broker.farewell(at: 1))
        #expect(sent == [-1])
        #expect(ends == [nil, .disconnect])
    }

    @Test func `In an outage of hours nothing is refused, and the messages of a topic come in their order`() {
        var broker = Broker.withOutbox([1: "a", 2: "a", 3: "b", 4: "b", 5: "c"])
        var told: [BrokerStateMachine.Action] = []
        let isBack = broker.exchange(from: 0, until: 36_000, &told) { _ in 0x97 }
        #expect(told == (1...5).map { postponed($0, 0x97) })
        told = []
        let end = broker.exchange(from: isBack, &told) { _ in 0 }
        #expect(end < isBack + 80)
        #expect(told.count == 5)
        for topic in [[acknowledged(1), acknowledged(2)], [acknowledged(3), acknowledged(4)]] {
            #expect(told.filter(topic.contains) == topic)
        }
    }

    @Test func `A message that is refused for a day is refused for good, although no other proves it guilty`() {
        var broker = Broker.withOutbox([1: "t"])
        var told: [BrokerStateMachine.Action] = []
        let end = broker.exchange(from: 0, &told) { _ in 0x80 }
        #expect(told == [postponed(1, 0x80), refused(1, 0x80)])
        #expect((24 * 3600...25 * 3600).contains(end), "\(end) s")
    }

    // MARK: Subscriptions

    @Test func `Of new topic filters only the difference is requested`() {
        var broker = Broker()
        _ = broker.order([], ["a", "b"], at: 0)
        _ = broker.connect(at: 0)
        for (number, filter) in [(1, "a"), (2, "b")] as [(Int32, String)] {
            _ = broker.subscribed(filter, number, isGranted: true, at: 0)
        }
        let actions = broker.order([], ["b", "c"], at: 1)
        #expect(actions == [.unsubscribe("a"), .subscribe("c")])
    }

    @Test func `A refused subscription is told once, and requested again after two seconds`() {
        var broker = Broker()
        _ = broker.order([], ["a"], at: 0)
        _ = broker.connect(at: 0)
        var actions = broker.subscribed("a", 1, isGranted: false, at: 0)
        #expect(actions == [.tell(.subscriptionRefused(topicFilter: "a"))])
        actions = broker.dueSubscriptions(at: 1.9)
        #expect(actions.isEmpty)
        actions = broker.dueSubscriptions(at: 2)
        #expect(actions == [.subscribe("a")])
        actions = broker.subscribed("a", 2, isGranted: false, at: 2)
        #expect(actions.isEmpty)
        actions = broker.subscribed("a", 3, isGranted: true, at: 3)
        #expect(actions == [.tell(.subscribed(topicFilter: "a"))])
    }

    @Test func `A message that is too large clears the session, and one that is retained withholds subscriptions`() {
        var broker = Broker()
        _ = broker.order([], ["a"], at: 0)
        _ = broker.connect(at: 0)
        var actions = broker.ended(.messageTooLarge, at: 1)
        #expect(actions.prefix(2) == [.tell(.dropped(.sessionDiscarded(.messageTooLarge))), .discardClient])
        #expect(broker.attempt(at: 100)?.isClean == true)
        broker.reached(at: 100)
        actions = broker.accepted(at: 100)
        #expect(actions.contains(.subscribe("a")))
        actions = broker.ended(.messageTooLarge, at: 101)
        #expect(actions.first == .tell(.dropped(.subscriptionsWithheld(for: .seconds(600)))))
        actions = broker.connect(at: 200)
        #expect(actions == [.tell(.connected(sessionPresent: false))])
        actions = broker.dueSubscriptions(at: 700) + broker.dueSubscriptions(at: 701)
        #expect(actions == [.subscribe("a")])
        _ = broker.ended(.closed(code: nil), at: 800)
        #expect(broker.attempt(at: 900)?.isClean == false, "the session that began then is kept")
    }

    // MARK: The stop

    @Test func `A stop between attempts is the end`() {
        var broker = Broker()
        _ = broker.next(at: 0)
        _ = broker.ended(.silent, at: 0)
        _ = broker.order(stopBy: 10, at: 0.1)
        let step = broker.next(at: 0.1)
        #expect(step == .end)
    }

    @Test func `A stop during a name look-up is the end of a failed attempt, and no failure is told`() {
        var broker = Broker()
        _ = broker.next(at: 0)
        _ = broker.order(stopBy: 10, at: 1)
        let actions = broker.ended(.unreachable("no"), at: 2)
        #expect(actions.isEmpty)
        let step = broker.next(at: 2)
        #expect(step == .end)
    }

    @Test func `A broker that has not accepted is left at once`() {
        var broker = Broker()
        _ = broker.next(at: 0)
        broker.reached(at: 0)
        let before = broker.farewell(at: 1)
        #expect(before == nil)
        _ = broker.order(stopBy: 10, at: 1)
        let farewell = broker.farewell(at: 1)
        #expect(farewell == .disconnect)
        #expect(broker.machine.isClosed)
    }

    @Test func `Messages in flight are waited for, and then DISCONNECT is sent once`() {
        var broker = Broker()
        _ = broker.connect(at: 0)
        _ = broker.order([1], stopBy: 10, at: 0)
        _ = broker.send(at: 0)
        var farewells = [broker.farewell(at: 1)]
        _ = broker.answered(1, at: 2)
        for now in [2.0, 3] { farewells.append(broker.farewell(at: now)) }
        #expect(farewells == [nil, .disconnect, nil])
        #expect(!broker.machine.isClosed, "DISCONNECT may still have to be written")
        _ = broker.farewell(at: 10)
        #expect(broker.machine.isClosed)
    }

    @Test func `Where messages remain at the end of the stop, the will is left to the broker`() {
        var broker = Broker()
        _ = broker.connect(at: 0)
        _ = broker.order([1], stopBy: 10, at: 0)
        _ = broker.send(at: 0)
        let farewell = broker.farewell(at: 10)
        #expect(farewell == .hangUp)
        #expect(broker.machine.isClosed)
    }
}
