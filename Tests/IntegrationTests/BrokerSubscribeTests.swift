import Base
import Configuration
import Messaging
import OwnTracks
import TestSupport
import Testing

@Suite struct BrokerSubscribeTests {
    /// Publishes like any client in the home.
    private func publish(_ payload: String, to topic: String, on broker: MosquittoBroker, options: [String] = []) throws
    {
        try run(
            "mosquitto_pub",
            ["-h", "127.0.0.1", "-p", String(broker.port), "-t", topic, "-m", payload, "-q", "1"] + options)
    }

    @Test func `A message on a subscribed topic is received, others are not`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let owner = try BrokerClient(BrokerSettings(for: broker))
        owner.connection.subscribe(to: ["a/+/cmd"])
        try owner.connection.start()
        #expect(owner.connects())
        #expect(eventually { broker.log.contains("Sending SUBACK to gateway") })
        try publish("not for us", to: "a/b/event", on: broker)
        try publish("for us", to: "a/b/cmd", on: broker)
        #expect(eventually { !owner.messages.isEmpty })
        #expect(
            owner.messages == [
                ReceivedMessage(topic: "a/b/cmd", payload: Array("for us".utf8), qos: .atLeastOnce, retained: false)
            ])
        #expect(owner.connection.stop(within: .patience))
    }

    /// libmosquitto's log, which contains topics, is the only sign of some packets.
    @Test func `Topics may contain what libmosquitto's log says of a QoS 2 message and of a ping`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let topics = ["received PUBLISH (d0, q2", "Client gateway received PUBLISH (d1, q2", "received PINGRESP"]
        for topic in topics { try publish("retained", to: "a/\(topic)", on: broker, options: ["-r"]) }
        let owner = try BrokerClient(BrokerSettings(for: broker))
        owner.connection.subscribe(to: ["a/+", "received PUBLISH (d0, q2"])
        try owner.connection.start()
        #expect(eventually { owner.messages.count == topics.count || !owner.failures.isEmpty })
        // Topics that the gateway writes are in the log, too.
        owner.publish(1, to: "a/received PUBLISH (d0, q2")
        #expect(eventually { owner.messages.count > topics.count || !owner.failures.isEmpty })
        #expect(owner.failures.isEmpty)
        #expect(Set(owner.messages.map(\.topic)) == Set(topics.map { "a/\($0)" }))
        #expect(owner.messages.last?.payload == Array("1".utf8))
    }

    @Test func `A retained message says that it is one`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        try publish("old", to: "a/cmd", on: broker, options: ["-r"])
        let owner = try BrokerClient(BrokerSettings(for: broker))
        owner.connection.subscribe(to: ["a/cmd"])
        try owner.connection.start()
        #expect(eventually { !owner.messages.isEmpty })
        #expect(owner.messages.map(\.retained) == [true])
    }

    @Test func `A retained message of ours is kept by the broker, and only then`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let owner = try BrokerClient(BrokerSettings(for: broker))
        try owner.connection.start()
        owner.publish(1, to: "a/kept", retain: true)
        owner.publish(2, to: "a/passing", retain: false)
        #expect(eventually { owner.acknowledged.count == 2 })
        let late = try Subscriber(to: broker)
        #expect(eventually { !late.lines.isEmpty })
        #expect(late.lines.map(\.topic) == ["a/kept"])
        #expect(late.lines.map(\.retained) == [true])
    }

    @Test func `A payload may hold any byte, NUL included, or none at all`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let owner = try BrokerClient(BrokerSettings(for: broker))
        owner.connection.subscribe(to: ["loop"])
        try owner.connection.start()
        #expect(eventually { broker.log.contains("Sending SUBACK to gateway") })
        let everyByte = (0...255).map(UInt8.init)
        owner.publish(1, to: "loop", everyByte)
        owner.publish(2, to: "loop", [])
        #expect(eventually { owner.messages.count == 2 })
        #expect(owner.messages.map(\.payload) == [everyByte, []])
    }

    @Test func `A message of eight mebibytes passes both ways`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let owner = try BrokerClient(BrokerSettings(for: broker))
        owner.connection.subscribe(to: ["big"])
        try owner.connection.start()
        #expect(eventually { broker.log.contains("Sending SUBACK to gateway") })
        let payload = (0..<(8 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        owner.publish(1, to: "big", payload)
        #expect(owner.sees { $0 == .acknowledged(MessageToken(rawValue: 1)) })
        #expect(eventually { !owner.messages.isEmpty })
        #expect(owner.messages.first?.payload == payload)
    }

    @Test func `A received message over the limit is dropped and counted`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        var settings = BrokerSettings(for: broker)
        settings.limits.largestPacket = 100
        let owner = try BrokerClient(settings)
        owner.connection.subscribe(to: ["a"])
        try owner.connection.start()
        #expect(eventually { broker.log.contains("Sending SUBACK to gateway") })
        try publish(String(repeating: "x", count: 101), to: "a", on: broker)
        try publish("small", to: "a", on: broker)
        #expect(eventually { !owner.messages.isEmpty })
        #expect(owner.messages.map(\.payload) == [Array("small".utf8)])
        #expect(owner.connection.counts.dropped == 1)
    }

    @Test func `Subscriptions changed while connected take effect at once`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let owner = try BrokerClient(BrokerSettings(for: broker))
        owner.connection.subscribe(to: ["one"])
        try owner.connection.start()
        #expect(eventually { broker.log.contains("Sending SUBACK to gateway") })
        owner.connection.subscribe(to: ["two"])
        #expect(eventually { broker.log.contains("Sending UNSUBACK to gateway") })
        try publish("1", to: "one", on: broker)
        try publish("2", to: "two", on: broker)
        #expect(eventually { !owner.messages.isEmpty })
        #expect(owner.messages.map(\.topic) == ["two"])
    }

    @Test(arguments: MQTTProtocolLevel.allCases)
    func `Every protocol level publishes and subscribes`(level: MQTTProtocolLevel) throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        var settings = BrokerSettings(for: broker)
        settings.protocolLevel = level
        let owner = try BrokerClient(settings)
        owner.connection.subscribe(to: ["loop"])
        try owner.connection.start()
        #expect(eventually { broker.log.contains("Sending SUBACK to gateway") })
        #expect(broker.log.contains("as gateway (p\(level.inLog)"))
        owner.publish(1, to: "loop")
        #expect(owner.sees { $0 == .acknowledged(MessageToken(rawValue: 1)) })
        #expect(eventually { owner.messages.map(\.payload) == [Array("1".utf8)] })
    }

    @Test(arguments: [MQTTProtocolLevel.v3_1_1, .v5])
    func `A message sent to us while we were away is waiting when we come back`(level: MQTTProtocolLevel) throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        var settings = BrokerSettings(for: broker)
        settings.protocolLevel = level
        settings.cleanSession = false
        let first = try BrokerClient(settings)
        first.connection.subscribe(to: ["cmd"])
        try first.connection.start()
        #expect(eventually { broker.log.contains("Sending SUBACK to gateway") })
        #expect(first.connection.stop(within: .patience))
        try publish("while away", to: "cmd", on: broker)
        let second = try BrokerClient(settings)
        try second.connection.start()
        #expect(second.sees { $0 == .connected(sessionPresent: true) })
        #expect(eventually { second.messages.map(\.payload) == [Array("while away".utf8)] })
    }
}

extension MQTTProtocolLevel {
    /// What mosquitto's log calls it.
    fileprivate var inLog: String {
        switch self {
        case .v3_1: "1"
        case .v3_1_1: "2"
        case .v5: "5"
        }
    }
}
