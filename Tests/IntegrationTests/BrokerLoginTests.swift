import Base
import Configuration
import Messaging
import TestSupport
import Testing

@Suite struct BrokerLoginTests {
    /// A broker that knows user `jane` by this password.
    private func broker(password: String) throws -> MosquittoBroker {
        let directory = try TemporaryDirectory()
        try run("mosquitto_passwd", ["-b", "-c", directory.file("passwords"), "jane", password])
        return try MosquittoBroker(
            ["allow_anonymous false", "password_file \(directory.file("passwords"))"], in: directory)
    }

    private func settings(for broker: MosquittoBroker, password: String?) -> BrokerSettings {
        var settings = BrokerSettings(for: broker)
        settings.username = password.map { _ in "jane" }
        settings.password = password.map(Secret.init)
        return settings
    }

    @Test func `The right password is accepted`() throws {
        let broker = try broker(password: "right")
        defer { broker.stop() }
        let owner = try BrokerClient(settings(for: broker, password: "right"))
        try owner.connection.start()
        #expect(owner.connects())
        #expect(owner.failures.isEmpty)
    }

    @Test(arguments: MQTTProtocolLevel.allCases, ["wrong", nil])
    func `A wrong or missing login is named as the cause`(level: MQTTProtocolLevel, password: String?) throws {
        let broker = try broker(password: "right")
        defer { broker.stop() }
        var settings = settings(for: broker, password: password)
        settings.protocolLevel = level
        let owner = try BrokerClient(settings)
        try owner.connection.start()
        #expect(eventually { !owner.failures.isEmpty })
        #expect(owner.failures.first == .notAccepted(code: level == .v5 ? 0x87 : 5))
        #expect(owner.failures.first?.isLogin == true)
        #expect(owner.failures.first?.description.contains("not authorised") == true)
    }

    @Test func `A refused login is tried again and goes through once it is cured`() throws {
        let broker = try broker(password: "right")
        defer { broker.stop() }
        let owner = try BrokerClient(settings(for: broker, password: "new"))
        owner.publish(1)
        try owner.connection.start()
        #expect(eventually { owner.failures.count >= 2 })
        #expect(owner.failures.allSatisfy { $0.isLogin }, "\(owner.failures) \(broker.log)")
        try run("mosquitto_passwd", ["-b", broker.directory.file("passwords"), "jane", "new"])
        broker.reload()
        #expect(owner.connects())
        #expect(owner.sees { $0 == .acknowledged(MessageToken(rawValue: 1)) })
    }

    @Test func `A login withdrawn while connected ends the connection and is tried again`() throws {
        let broker = try broker(password: "right")
        defer { broker.stop() }
        let owner = try BrokerClient(settings(for: broker, password: "right"))
        try owner.connection.start()
        #expect(owner.connects())
        try run("mosquitto_passwd", ["-b", broker.directory.file("passwords"), "jane", "other"])
        try broker.restart(nil)
        #expect(eventually { owner.failures.contains(where: \.isLogin) })
    }

    @Test func `A subscription that the broker does not grant is reported, and the others work`() throws {
        // mosquitto grants every subscription and filters what it sends.
        let broker = try ScriptedBroker { packet in
            guard packet.type == 8 else { return ScriptedBroker.politely(packet) }
            let forbidden = String(decoding: packet.body, as: UTF8.self).contains("forbidden")
            return .bytes([0x90, 3] + packet.identifier + [forbidden ? 0x80 : 1])
        }
        defer { broker.close() }
        let owner = try BrokerClient(BrokerSettings(hosts: ["127.0.0.1"], port: broker.port, clientID: "gateway"))
        owner.connection.subscribe(to: ["forbidden", "allowed"])
        try owner.connection.start()
        #expect(owner.sees { $0 == .subscriptionRefused(topicFilter: "forbidden") })
        #expect(owner.sees { $0 == .subscribed(topicFilter: "allowed") })
        #expect(!owner.events.contains(.subscriptionRefused(topicFilter: "allowed")))
        #expect(!owner.events.contains(.subscribed(topicFilter: "forbidden")))
    }

    @Test func `With MQTT 5, a message that the broker does not allow is refused and the others are not`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("topic readwrite allowed\n", to: "acl")
        let broker = try MosquittoBroker(
            ["allow_anonymous true", "acl_file \(directory.file("acl"))"], in: directory)
        defer { broker.stop() }
        var settings = BrokerSettings(for: broker)
        settings.protocolLevel = .v5
        let owner = try BrokerClient(settings)
        try owner.connection.start()
        owner.publish(1, to: "forbidden")
        owner.publish(2, to: "allowed")
        #expect(owner.sees { $0 == .acknowledged(MessageToken(rawValue: 2)) })
        #expect(owner.events.contains(.refused(MessageToken(rawValue: 1), .byBroker(reasonCode: 0x87))))
    }
}
