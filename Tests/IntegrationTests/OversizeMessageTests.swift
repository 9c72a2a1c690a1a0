import Base
import Configuration
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Messaging

/// Messages from the broker that are larger than any command. A client that may publish on `/cmd` can send one, and the
/// broker delivers it until it is acknowledged.
///
/// `IBEACON_GATEWAY_OVERSIZE_MEBIBYTES`: the size. `Scripts/soak` sets a larger size than the default of the tests.
@Suite(.serialized) struct OversizeMessageTests {
    private static let mebibytes =
        getenv("IBEACON_GATEWAY_OVERSIZE_MEBIBYTES").flatMap { Int(String(cString: $0)) } ?? 80
    /// Of a release build, in KiB. An unoptimised one is held to the same.
    private static let memoryLimit = 64 << 10

    struct Way: Sendable, CustomTestStringConvertible {
        let level: MQTTProtocolLevel
        var tls = false
        var isRetained = false
        var testDescription: String {
            "MQTT \(level.rawValue)\(tls ? " with TLS" : "")\(isRetained ? ", retained" : "")"
        }
    }

    static let ways = [
        Way(level: .v3_1), Way(level: .v3_1_1), Way(level: .v5), Way(level: .v3_1_1, tls: true),
        Way(level: .v5, tls: true), Way(level: .v3_1_1, isRetained: true),
    ]

    /// With TLS, bytes without a sign of life count as those of one packet. libmosquitto has no callback for the answer.
    @Test func `The answer to a ping is a sign of life, and what is sent is none`() throws {
        let broker = try ScriptedBroker { packet in
            packet.type == 1 ? .bytes([0x20, 2, 0, 0]) : .bytes([0xd0, 0])
        }
        defer { broker.close() }
        var client = try Client(settings: BrokerSettings(hosts: ["127.0.0.1"], port: broker.port, clientID: "gateway"))
        try client.connect(to: "127.0.0.1")
        /// Whether so many signs of life come, with time for more.
        func shows(_ count: Int) throws -> Bool {
            for _ in 0..<200 where client.sink.activity < count {
                try client.flush()
                _ = try client.receive()
                usleep(10_000)
            }
            return client.sink.activity == count
        }
        #expect(try shows(1))
        // Its SUBSCRIBE is answered with PINGRESP.
        #expect(client.subscribe("a") != nil)
        #expect(try shows(2))
        client.unsubscribe("a")
        #expect(client.sink.activity == 2)
    }

    /// A broker, a gateway that waits for commands there, and a file with too much in it.
    private final class Scene {
        let broker: MosquittoBroker
        let gateway: GatewayProcess
        let certificates: Certificates?
        private let witness: Subscriber

        init(_ way: Way) throws {
            let certificates = way.tls ? try Certificates() : nil
            self.certificates = certificates
            let tlsSettings = try certificates.map { MosquittoBroker.tls(try $0.issue("broker")) }
            broker = try MosquittoBroker(tlsSettings ?? ["allow_anonymous true"])
            witness = try Subscriber(
                to: broker, topic: "owntracks/jane/hall",
                options: certificates.map { ["--cafile", $0.authority] } ?? [])
            let tls = certificates.map { "tls: true, caFile: \"\($0.authority)\"," } ?? ""
            gateway = try GatewayProcess(
                "mqttProtocolLevel: \(way.level.rawValue), \(tls) lat: 52, lon: 6, waypoints: [], \(GatewayFixture.quiet)",
                port: broker.port)
        }

        deinit {
            gateway.kill()
            broker.stop()
        }

        func publish(_ file: String, isRetained: Bool = false) throws {
            try run(
                "mosquitto_pub",
                ["-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "owntracks/jane/hall/cmd", "-q", "1", "-f", file]
                    + (certificates.map { ["--cafile", $0.authority] } ?? []) + (isRetained ? ["-r"] : []))
        }

        func command(_ action: String) throws {
            try publish(try gateway.directory.write(#"{"_type":"cmd","action":"\#(action)"}"#, to: "command"))
        }

        /// How often the broker was asked for the gateway's commands.
        var subscriptions: Int {
            broker.log.split(separator: "\n").count { $0.contains("owntracks/jane/hall/cmd (QoS") }
        }

        /// Answers to `reportLocation` so far.
        var locations: Int { witness.lines.count { $0.topic == "owntracks/jane/hall" && $0.text.contains("location") } }
    }

    /// TLS hides the packets, so the connection ends at a message that is too large.
    private func secureOwner(_ broker: MosquittoBroker, _ certificates: Certificates) throws -> BrokerClient {
        var settings = BrokerSettings(for: broker)
        settings.tls = .init(caFile: certificates.authority)
        settings.limits.largestPacket = 50_000
        return try BrokerClient(settings)
    }

    private func publish(
        _ payload: String, on broker: MosquittoBroker, _ certificates: Certificates, options: [String] = []
    ) throws {
        let file = try broker.directory.write(payload, to: "payload")
        try run(
            "mosquitto_pub",
            ["-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "cmd", "-f", file, "--cafile", certificates.authority]
                + (options.isEmpty ? ["-q", "1"] : options))
    }

    @Test func `With TLS, what is to be sent is sent all the same, and messages are heard again`() throws {
        let certificates = try Certificates()
        let broker = try MosquittoBroker(MosquittoBroker.tls(certificates.issue("broker")))
        defer { broker.stop() }
        let owner = try secureOwner(broker, certificates)
        owner.connection.subscribe(to: ["cmd"])
        try owner.connection.start()
        #expect(eventually { broker.log.contains("Sending SUBACK to gateway") })
        try publish(String(repeating: "x", count: 300_000), on: broker, certificates)
        for number in 1...50 { owner.publish(Int64(number)) }
        #expect(owner.sees { $0 == .dropped(.sessionDiscarded(.messageTooLarge)) })
        #expect(eventually { Set(owner.acknowledged) == Set(1...50) })
        #expect(eventually { broker.log.split(separator: "Sending SUBACK to gateway").count >= 3 })
        try publish("small", on: broker, certificates)
        #expect(eventually { owner.messages.map(\.payload) == [Array("small".utf8)] })
    }

    @Test func `With TLS, a retained message that is too large costs the subscriptions and nothing else`() throws {
        let certificates = try Certificates()
        let broker = try MosquittoBroker(MosquittoBroker.tls(certificates.issue("broker")))
        defer { broker.stop() }
        try publish(
            String(repeating: "x", count: 300_000), on: broker, certificates, options: ["-q", "1", "-r"])
        let owner = try secureOwner(broker, certificates)
        owner.connection.subscribe(to: ["cmd"])
        try owner.connection.start()
        let withheld = BrokerEvent.dropped(.subscriptionsWithheld(for: BrokerStateMachine.withholding))
        #expect(owner.sees { $0 == withheld })
        #expect(eventually { owner.events.drop { $0 != withheld }.contains(where: \.isConnected) })
        owner.publish(1)
        #expect(owner.sees { $0 == .acknowledged(MessageToken(rawValue: 1)) })
        #expect(owner.failures == [.messageTooLarge, .messageTooLarge])
    }

    @Test(arguments: ways)
    func `A message of many mebibytes costs little memory, and the next command is obeyed`(way: Way) throws {
        let scene = try Scene(way)
        let gateway = scene.gateway
        try gateway.start()
        #expect(eventually { scene.subscriptions > 0 }, "\(gateway.log)")
        try scene.command("reportLocation")
        #expect(eventually { scene.locations >= 1 }, "\(gateway.log)")
        let before = scene.locations
        let subscriptions = scene.subscriptions
        let large = gateway.directory.file("large")
        try run("truncate", ["-s", "\(Self.mebibytes)M", large])
        try scene.publish(large, isRetained: way.isRetained)
        // Commands that wait behind it go with the session.
        if way.tls, way.level != .v5 { #expect(gateway.says("it is told to forget the session"), "\(gateway.log)") }
        // It hears commands again with the subscription after that.
        if way.tls, way.level != .v5 { #expect(eventually { scene.subscriptions > subscriptions }) }
        try scene.command("reportLocation")
        #expect(eventually(within: .seconds(180)) { scene.locations > before }, "\(gateway.log)")
        let peak = gateway.peakKiB
        #expect((1..<Self.memoryLimit).contains(peak), "\(peak) KiB")
        #expect(gateway.stop() == 0)
        let milliseconds = try gateway.longestTurn()
        if GatewayProcess.measured != nil { #expect(milliseconds <= 100) }
        print(
            "message of \(Self.mebibytes) MiB, \(way.testDescription): peak \(peak / 1024) MiB, longest turn",
            "\(milliseconds) ms")
    }
}
