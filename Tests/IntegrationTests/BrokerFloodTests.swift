import Base
import Runtime
import Shell
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
        #expect(owner.sees { $0 == .dropped(.sessionDiscarded(.unaskedExactlyOnce)) })
        // The end of the connection is told after what it cost.
        #expect(eventually { owner.failures.first == .unaskedExactlyOnce })
        #expect(received.withLock(\.self) == 0)
    }

    /// The broker keeps a thousand messages for a slow client, as it does by default.
    @Test(arguments: ["0", "1"])
    func `A flood of readings takes no cards along, and only so much of it is taken`(qos: String) throws {
        let broker = try MosquittoBroker(["allow_anonymous true", "max_queued_messages 1000"])
        defer { broker.stop() }
        var settings = BrokerSettings(for: broker)
        settings.transientFilters = ["heard/+"]
        settings.subscriptionQoS = .atMostOnce
        settings.limits.perTopicAndSecond = 128
        let loop = try EventLoop()
        let link = ThreadedBrokerLink(loop: loop)
        var cards: [String] = []
        var readings = 0
        try link.open(settings, filters: ["heard/+", "card/+"], read: nil) {
            for case .message(let message) in link.drainEvents() {
                if message.topic == "card/k" { cards.append(String(decoding: message.payload, as: UTF8.self)) }
                if message.topic == "heard/x" { readings += 1 }
            }
        }
        defer { link.close(within: .seconds(1)) }
        #expect(eventually { broker.log.contains("heard/+ (QoS 0)") && broker.log.contains("card/+ (QoS 0)") })
        let flood = try broker.directory.write((1...30_000).map { "\($0)\n" }.joined(), to: "flood")
        let lines = try broker.directory.write((1...100).map { "\($0)\n" }.joined(), to: "cards")
        let place = "mosquitto_pub -h 127.0.0.1 -p \(broker.port) -l"
        let publisher = try ChildProcess(
            "sh", ["-c", "\(place) -t heard/x -q \(qos) < '\(flood)' & \(place) -t card/k -q 1 < '\(lines)'; wait"],
            output: broker.directory.file("publisher"))
        publisher.wait()
        let expected = (1...100).map { "\($0)" }
        try loop.step(until: .now.advanced(by: .patience)) { cards == expected && readings > 0 }
        #expect(cards == expected && readings > 0)
        #expect(readings < 10_000 && link.droppedMessages > 0)
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
        #expect(owner.sees { $0 == .dropped(.sessionDiscarded(.unaskedExactlyOnce)) })
        #expect(owner.sees { $0 == .connected(sessionPresent: false) })
        #expect(eventually { broker.log.contains("Sending SUBACK to gateway") })
        try run("mosquitto_pub", place + ["-q", "2", "-m", "new"])
        #expect(eventually { owner.messages.map(\.payload) == [Array("new".utf8)] })
    }
}
