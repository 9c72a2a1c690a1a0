import Base
import Messaging
import TestSupport
import Testing

@Suite struct BrokerPublishTests {
    @Test(arguments: QoS.allCases)
    func `A published message arrives as it was given and is acknowledged`(qos: QoS) throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker)
        let owner = try BrokerClient(BrokerSettings(for: broker))
        try owner.connection.start()
        #expect(owner.publish(7, to: "home/hall", Array("hello".utf8), qos: qos))
        #expect(owner.sees { $0 == .acknowledged(MessageToken(rawValue: 7)) })
        #expect(eventually { !witness.lines.isEmpty })
        #expect(witness.lines.map(\.text) == ["hello"])
        #expect(witness.lines.first?.topic == "home/hall")
        #expect(witness.lines.first?.qos == Int(qos.rawValue))
        #expect(owner.connection.stop(within: .patience))
    }
}
