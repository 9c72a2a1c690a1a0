import Base
import Configuration
import Glibc
import Messaging
import OwnTracks
import Synchronization
import TestSupport
import Testing

/// What a network and a broker can do to us. No message may be lost or overtaken.
@Suite struct BrokerFaultTests {
    /// The numbers that arrived, each where it was first seen: QoS 1 may repeat, it may not reorder.
    private func firstSeen(_ witness: Subscriber) -> [Int64] {
        var seen: Set<Int64> = []
        return witness.lines.compactMap { Int64($0.text) }.filter { seen.insert($0).inserted }
    }

    @Test(arguments: [false, true])
    func `Across restarts of the broker nothing is lost or overtaken`(abruptly: Bool) throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let owner = try BrokerClient(BrokerSettings(for: broker))
        owner.connection.subscribe(to: ["a/b"])
        try owner.connection.start()
        #expect(owner.connects())
        for number: Int64 in 1...20 { owner.publish(number) }
        #expect(eventually { owner.acknowledged.count == 20 })
        broker.stop(abruptly: abruptly)
        for number: Int64 in 21...60 { #expect(owner.publish(number)) }
        #expect(eventually { !owner.failures.isEmpty })
        try broker.restart()
        let witness = try Subscriber(to: broker)
        #expect(eventually { owner.acknowledged.count == 60 })
        #expect(owner.acknowledged == Array(1...60))
        // A broker that was killed has no memory, and on a slow machine the witness may have come after all of them.
        owner.publish(61)
        #expect(eventually { firstSeen(witness).last == 61 })
        let seen = firstSeen(witness)
        #expect(seen == seen.sorted())
    }

    @Test(arguments: [QoS.atLeastOnce, .exactlyOnce])
    func `Connections cut in the middle lose nothing and keep the order`(qos: QoS) throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let proxy = try FaultyProxy(to: broker.port)
        defer { proxy.close() }
        let witness = try Subscriber(to: broker)
        let owner = try BrokerClient(BrokerSettings(hosts: ["127.0.0.1"], port: proxy.port, clientID: "gateway"))
        try owner.connection.start()
        #expect(owner.connects())
        for round: Int64 in 0..<3 {
            for number in round * 100 + 1...round * 100 + 100 { #expect(owner.publish(number, qos: qos)) }
            proxy.cut()
            #expect(eventually { owner.acknowledged.count == Int(round + 1) * 100 })
        }
        #expect(owner.acknowledged == Array(1...300))
        #expect(eventually { firstSeen(witness).count == 300 })
        #expect(firstSeen(witness) == Array(1...300))
        if qos == .exactlyOnce { #expect(witness.lines.count == 300) }
    }

    @Test func `Messages given before there is a broker arrive once there is one`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        broker.stop()
        let owner = try BrokerClient(BrokerSettings(for: broker))
        for (number, qos) in QoS.allCases.enumerated() { owner.publish(Int64(number), qos: qos) }
        try owner.connection.start()
        #expect(eventually { !owner.failures.isEmpty })
        #expect(owner.failures.first == .unreachable("Connection refused"))
        try broker.restart()
        #expect(eventually { owner.acknowledged == [0, 1, 2] })
    }

    @Test func `A name that does not resolve is named as the cause`() throws {
        let owner = try BrokerClient(BrokerSettings(hosts: ["no-such-broker.invalid"], port: 1883, clientID: "gateway"))
        try owner.connection.start()
        #expect(eventually { !owner.failures.isEmpty })
        guard case .nameNotResolved? = owner.failures.first else {
            Issue.record("\(owner.failures)")
            return
        }
    }

    @Test(arguments: [false, true])
    func `A broker that accepts and never answers is noticed and tried again`(tls: Bool) throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let proxy = try FaultyProxy(to: broker.port, .isSilent)
        defer { proxy.close() }
        var settings = BrokerSettings(hosts: ["127.0.0.1"], port: proxy.port, clientID: "gateway")
        settings.connectTimeout = .milliseconds(500)
        settings.firstRetryDelay = .milliseconds(10)
        let certificates = try Certificates()
        if tls { settings.tls = .init(caFile: certificates.authority) }
        let owner = try BrokerClient(settings)
        owner.publish(1)
        try owner.connection.start()
        #expect(eventually { owner.failures.count >= 2 })
        #expect(Set(owner.failures) == [.silent])
        guard !tls else { return }
        proxy.behave(.passes)
        #expect(owner.sees { $0 == .acknowledged(MessageToken(rawValue: 1)) })
    }

    @Test func `A broker that stands still keeps nothing from us, and goes on where it stopped`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let owner = try BrokerClient(BrokerSettings(for: broker))
        try owner.connection.start()
        #expect(owner.connects())
        broker.freeze()
        for number: Int64 in 1...50 { #expect(owner.publish(number)) }
        usleep(300_000)
        #expect(owner.acknowledged.isEmpty)
        broker.thaw()
        #expect(eventually { owner.acknowledged == Array(1...50) })
        #expect(owner.failures.isEmpty)
    }

    @Test func `A broker that stands still is noticed by the keepalive`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        var settings = BrokerSettings(for: broker)
        settings.keepalive = .seconds(5)
        let owner = try BrokerClient(settings)
        try owner.connection.start()
        #expect(owner.connects())
        broker.freeze()
        // It tries again while the broker stands still, and fails otherwise.
        #expect(eventually { !owner.failures.isEmpty })
        #expect(owner.failures.first == .keepaliveMissed)
        broker.thaw()
        #expect(eventually { owner.events.count(where: { $0.isConnected }) >= 2 })
    }

    @Test func `A lost acknowledgement is noticed, and the message is sent again`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let proxy = try FaultyProxy(to: broker.port)
        defer { proxy.close() }
        var settings = BrokerSettings(hosts: ["127.0.0.1"], port: proxy.port, clientID: "gateway")
        settings.acknowledgeTimeout = .milliseconds(500)
        settings.firstRetryDelay = .milliseconds(10)
        let owner = try BrokerClient(settings)
        try owner.connection.start()
        #expect(owner.connects())
        proxy.behave(.loses(every: 1))
        owner.publish(1)
        #expect(eventually { proxy.lostCount == 1 })
        proxy.behave(.passes)
        #expect(owner.sees { $0 == .acknowledged(MessageToken(rawValue: 1)) })
        // On a busy machine the next acknowledgement may be late, too.
        #expect(Set(owner.failures) == [.unacknowledged])
    }

    @Test func `What the broker says, lost now and then, costs time and no message`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let proxy = try FaultyProxy(to: broker.port, .loses(every: 50))
        defer { proxy.close() }
        var settings = BrokerSettings(hosts: ["127.0.0.1"], port: proxy.port, clientID: "gateway")
        settings.acknowledgeTimeout = .milliseconds(500)
        settings.firstRetryDelay = .milliseconds(10)
        let owner = try BrokerClient(settings)
        try owner.connection.start()
        #expect(owner.connects())
        for number: Int64 in 1...120 {
            #expect(owner.publish(number))
            #expect(owner.sees { $0 == .acknowledged(MessageToken(rawValue: number)) })
        }
        #expect(owner.acknowledged == Array(1...120))
        #expect(!owner.failures.isEmpty)
    }

    @Test(arguments: [false, true])
    func `A connection that is closed at once is tried with growing delays, not in a hurry`(tls: Bool) throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let proxy = try FaultyProxy(to: broker.port, .hangsUp)
        defer { proxy.close() }
        var settings = BrokerSettings(hosts: ["127.0.0.1"], port: proxy.port, clientID: "gateway")
        let certificates = try Certificates()
        if tls { settings.tls = .init(caFile: certificates.authority) }
        let owner = try BrokerClient(settings)
        let start = ContinuousClock.now
        try owner.connection.start()
        // At 0, 1 and 3 s, give or take the jitter. A busy machine makes it later, never sooner.
        #expect(eventually { proxy.connectionCount >= 3 })
        let took = start.duration(to: .now)
        #expect(took >= Backoff.first * (1 - Backoff.jitter) * 3, "\(proxy.connectionCount) connections in \(took)")
        #expect(eventually { owner.failures.count >= 2 })
    }

    @Test func `A message at which the broker hangs up every time is refused, and the next goes through`() throws {
        // MQTT 3.1.1 gives a broker no other way to say that a message is too large or not allowed.
        let broker = try ScriptedBroker { packet in
            packet.type == 3 && packet.topic == "poison" ? .hangUp : ScriptedBroker.politely(packet)
        }
        defer { broker.close() }
        var settings = BrokerSettings(hosts: ["127.0.0.1"], port: broker.port, clientID: "gateway")
        settings.firstRetryDelay = .milliseconds(10)
        let owner = try BrokerClient(settings)
        try owner.connection.start()
        owner.publish(1, to: "good")
        owner.publish(2, to: "poison")
        owner.publish(3, to: "good")
        #expect(owner.sees { $0 == .acknowledged(MessageToken(rawValue: 3)) })
        #expect(owner.acknowledged == [1, 3])
        #expect(
            owner.events.contains { event in
                if case .refused(MessageToken(rawValue: 2), .endsConnection) = event { true } else { false }
            })
    }

    @Test(arguments: ["", "a/+/b", "a/#", "a\u{0}b"])
    func `A topic that cannot be published to is refused, and the next message goes through`(topic: String) throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let owner = try BrokerClient(BrokerSettings(for: broker))
        try owner.connection.start()
        owner.publish(1, to: topic)
        owner.publish(2)
        #expect(owner.sees { $0 == .acknowledged(MessageToken(rawValue: 2)) })
        #expect(owner.events.contains(.refused(MessageToken(rawValue: 1), .malformed)))
        #expect(owner.failures.isEmpty)
    }

    @Test func `With MQTT 5, a message larger than the broker accepts is refused without being sent`() throws {
        let broker = try MosquittoBroker(["allow_anonymous true", "max_packet_size 1000"])
        defer { broker.stop() }
        var settings = BrokerSettings(for: broker)
        settings.protocolLevel = .v5
        let owner = try BrokerClient(settings)
        try owner.connection.start()
        owner.publish(1, [UInt8](repeating: 0, count: 2000))
        owner.publish(2)
        #expect(owner.sees { $0 == .acknowledged(MessageToken(rawValue: 2)) })
        #expect(owner.events.contains(.refused(MessageToken(rawValue: 1), .tooLarge)))
    }

    @Test(arguments: [QoS.atLeastOnce, .exactlyOnce])
    func `A broker that is out of quota for a while loses no message, and gets all in their order`(qos: QoS) throws {
        let arrived = Mutex<[[UInt8]]>([])
        let broker = try ScriptedBroker { packet in
            switch packet.type {
            case 1: return .bytes([0x20, 3, 0, 0, 0])
            case 3:
                let count = arrived.withLock {
                    $0.append(Array(packet.body.suffix(1)))
                    return $0.count
                }
                // PUBACK or PUBREC.
                let answer: UInt8 = qos == .atLeastOnce ? 0x40 : 0x50
                return .bytes([answer, 3] + packet.identifier + [count <= 4 ? 0x97 : 0])
            // PUBREL: PUBCOMP.
            case 6: return .bytes([0x70, 2] + packet.body.prefix(2))
            default: return ScriptedBroker.politely(packet)
            }
        }
        defer { broker.close() }
        var settings = BrokerSettings(hosts: ["127.0.0.1"], port: broker.port, clientID: "gateway")
        (settings.protocolLevel, settings.hasOutbox) = (.v5, true)
        settings.firstRetryDelay = .milliseconds(10)
        let owner = try BrokerClient(settings)
        for number: Int64 in 1...3 { owner.publish(number, qos: qos) }
        try owner.connection.start()
        #expect(eventually { owner.acknowledged.count == 3 })
        #expect(owner.acknowledged == [1, 2, 3])
        #expect(arrived.withLock(\.self) == ["1", "2", "3", "1", "1", "2", "3"].map { Array($0.utf8) })
        #expect(owner.failures.isEmpty)
        let postponed = owner.events.count { if case .postponed(_, reasonCode: 0x97) = $0 { true } else { false } }
        #expect(postponed == 3)
    }

    @Test func `Nonsense in place of MQTT is a failure like any other`() throws {
        let broker = try ScriptedBroker { _ in .bytes(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)) }
        defer { broker.close() }
        let owner = try BrokerClient(BrokerSettings(hosts: ["127.0.0.1"], port: broker.port, clientID: "gateway"))
        try owner.connection.start()
        #expect(eventually { !owner.failures.isEmpty })
        #expect(owner.connection.stop(within: .patience))
    }
}
