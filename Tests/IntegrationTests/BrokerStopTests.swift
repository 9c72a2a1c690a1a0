import Base
import Messaging
import Synchronization
import TestSupport
import Testing

@Suite struct BrokerStopTests {
    private let will = BrokerSettings.Will(topic: "will", payload: Array("gone".utf8), qos: .atLeastOnce)

    @Test func `A connection that breaks off makes the broker publish the will, not retained`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let proxy = try FaultyProxy(to: broker.port)
        defer { proxy.close() }
        let witness = try Subscriber(to: broker)
        var settings = BrokerSettings(hosts: ["127.0.0.1"], port: proxy.port, clientID: "gateway")
        settings.will = will
        let owner = try BrokerClient(settings)
        try owner.connection.start()
        #expect(owner.connects())
        proxy.cut()
        #expect(eventually { !witness.lines.isEmpty })
        #expect(witness.lines.first == .init(topic: "will", qos: 1, retained: false, payload: "676f6e65"))
        let late = try Subscriber(to: broker)
        #expect(late.lines.isEmpty)
    }

    @Test(arguments: [false, true])
    func `A clean stop makes the broker publish no will`(tls: Bool) throws {
        let certificates = try Certificates()
        let pair = try certificates.issue("broker")
        let broker = try MosquittoBroker(["allow_anonymous true"])
        defer { broker.stop() }
        let witness = try Subscriber(to: broker)
        let secure = try MosquittoBroker(MosquittoBroker.tls(pair))
        defer { secure.stop() }
        var settings = BrokerSettings(for: tls ? secure : broker)
        settings.will = will
        if tls { settings.tls = .init(caFile: certificates.authority) }
        let owner = try BrokerClient(settings)
        try owner.connection.start()
        #expect(owner.connects())
        #expect(owner.connection.stop(within: .patience))
        let log = { (tls ? secure : broker).log }
        #expect(eventually { log().contains("Received DISCONNECT from gateway") })
        #expect(eventually { log().contains("Client gateway disconnected.") })
        #expect(!witness.lines.contains { $0.topic == "will" })
    }

    @Test func `What was given before a stop is sent and acknowledged first`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker)
        let owner = try BrokerClient(BrokerSettings(for: broker))
        try owner.connection.start()
        #expect(owner.connects())
        for number: Int64 in 1...200 { owner.publish(number) }
        #expect(owner.connection.stop(within: .patience))
        #expect(owner.acknowledged == Array(1...200))
        #expect(eventually { witness.lines.count == 200 })
    }

    @Test func `A stop takes no longer than it may, even if the broker stands still`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let owner = try BrokerClient(BrokerSettings(for: broker))
        try owner.connection.start()
        #expect(owner.connects())
        broker.freeze()
        owner.publish(1)
        let clock = ContinuousClock()
        // A quarter of the time is for the good-bye.
        let took = clock.measure { #expect(owner.connection.stop(within: .seconds(4))) }
        // The acknowledgement that it waits for would be given up after a minute.
        #expect(took < .seconds(30))
    }

    @Test func `A stop that runs out of time before all was acknowledged leaves the last word to the will`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let proxy = try FaultyProxy(to: broker.port)
        defer { proxy.close() }
        let witness = try Subscriber(to: broker, topic: "will")
        var settings = BrokerSettings(hosts: ["127.0.0.1"], port: proxy.port, clientID: "gateway")
        settings.will = will
        let owner = try BrokerClient(settings)
        try owner.connection.start()
        #expect(owner.connects())
        proxy.behave(.loses(every: 1))
        owner.publish(1)
        #expect(owner.connection.stop(within: .seconds(4)))
        #expect(eventually { witness.lines.count == 1 })
    }

    @Test func `A stop between attempts is immediate`() throws {
        let broker = try MosquittoBroker()
        broker.stop()
        var settings = BrokerSettings(for: broker)
        settings.firstRetryDelay = .seconds(60)
        let owner = try BrokerClient(settings)
        try owner.connection.start()
        #expect(eventually { !owner.failures.isEmpty })
        // The next attempt would be in 48 s at the earliest.
        let took = ContinuousClock().measure { #expect(owner.connection.stop(within: .patience)) }
        #expect(took < .seconds(30))
    }

    @Test func `A connection that was never started stops`() throws {
        let owner = try BrokerClient(BrokerSettings(hosts: ["127.0.0.1"], port: 1, clientID: "gateway"))
        #expect(owner.connection.stop(within: .patience))
    }

    @Test func `A released connection ends by itself`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        do {
            let owner = try BrokerClient(BrokerSettings(for: broker))
            try owner.connection.start()
            #expect(owner.connects())
        }
        #expect(eventually { broker.log.contains("Client gateway disconnected.") })
    }

    @Test func `Events wake the owner`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let owner = try BrokerClient(BrokerSettings(for: broker))
        #expect(owner.wakes.load(ordering: .relaxed) == 0)
        try owner.connection.start()
        #expect(eventually { owner.wakes.load(ordering: .relaxed) > 0 })
    }
}
