import Synchronization
import TestSupport
import Testing

@testable import Messaging

/// Messages with QoS 2. libmosquitto keeps each until the broker releases it, and nothing is subscribed to with QoS 2.
@Suite struct BrokerFloodTests {
    @Test func `A broker that never releases its QoS 2 messages cannot fill the memory`() throws {
        let received = Mutex(0)
        let broker = try ScriptedBroker { packet in
            // PUBREC: libmosquitto has taken one.
            if packet.type == 5 { received.withLock { $0 += 1 } }
            guard packet.type == 8 else { return ScriptedBroker.politely(packet) }
            let flood = (1...60_000).flatMap { number -> [UInt8] in
                [0x34, 8, 0, 1, 0x61, UInt8(number >> 8), UInt8(number & 0xff), 1, 2, 3]
            }
            return .bytes([0x90, 3] + packet.identifier + [1] + flood)
        }
        defer { broker.close() }
        let owner = try BrokerClient(BrokerSettings(hosts: ["127.0.0.1"], port: broker.port, clientID: "gateway"))
        owner.connection.subscribe(to: ["a"])
        try owner.connection.start()
        #expect(owner.sees { $0 == .untaken(.sessionDiscarded(.unaskedExactlyOnce)) })
        // The end of the connection is told after what it cost.
        #expect(eventually { owner.failures.first == .unaskedExactlyOnce })
        #expect(received.withLock(\.self) == 0)
    }

    /// With TLS only libmosquitto's log tells that one came.
    @Test(arguments: [false, true])
    func `QoS 2 messages that are left of another session go with it, and messages are heard`(tls: Bool) throws {
        let certificates = tls ? try Certificates() : nil
        let lines = try certificates.map { MosquittoBroker.tls(try $0.issue("broker")) }
        let broker = try MosquittoBroker(lines ?? ["allow_anonymous true"])
        defer { broker.stop() }
        let place =
            ["-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "cmd"]
            + (certificates.map { ["--cafile", $0.authority] } ?? [])
        // -E: it ends as soon as it has subscribed.
        try run("mosquitto_sub", place + ["-i", "gateway", "-c", "-q", "2", "-E"])
        try run("mosquitto_pub", place + ["-q", "2", "-m", "old"])
        var settings = BrokerSettings(for: broker)
        settings.tls = certificates.map { .init(caFile: $0.authority) }
        let owner = try BrokerClient(settings)
        owner.connection.subscribe(to: ["cmd"])
        try owner.connection.start()
        #expect(owner.sees { $0 == .untaken(.sessionDiscarded(.unaskedExactlyOnce)) })
        #expect(owner.sees { $0 == .connected(sessionPresent: false) })
        #expect(eventually { broker.log.contains("Sending SUBACK to gateway") })
        try run("mosquitto_pub", place + ["-q", "2", "-m", "new"])
        #expect(eventually { owner.messages.map(\.payload) == [Array("new".utf8)] })
    }
}
