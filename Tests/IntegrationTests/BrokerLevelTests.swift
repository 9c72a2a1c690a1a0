import Base
import Configuration
import Synchronization
import TestSupport
import Testing

@testable import Messaging

/// MQTT 5, and 3.1.1 where it is not spoken.
@Suite struct BrokerLevelTests {
    enum Refusal: CaseIterable {
        /// CONNACK of MQTT 3.1.1, code 1.
        case old
        /// CONNACK of MQTT 5, code 0x84.
        case new
        /// The connection is closed.
        case silent

        var reply: ScriptedBroker.Reply {
            switch self {
            case .old: .bytes([0x20, 2, 0, 1])
            case .new: .bytes([0x20, 3, 0, 0x84, 0])
            case .silent: .hangUp
            }
        }
    }

    private func settings(_ port: UInt16, fallsBack: Bool = true) -> BrokerSettings {
        var settings = BrokerSettings(hosts: ["127.0.0.1"], port: port, clientID: "gateway")
        settings.protocolLevel = .v5
        settings.fallsBack = fallsBack
        settings.firstRetryDelay = .milliseconds(50)
        return settings
    }

    /// A broker that writes down the levels it is asked for, and accepts only one.
    private func broker(
        accepting level: UInt8, _ refusal: Refusal, levels: Recorder
    ) throws -> ScriptedBroker {
        try ScriptedBroker { packet in
            guard packet.type == 1 else { return packet.type == 3 ? .hangUp : ScriptedBroker.politely(packet) }
            levels.add(packet.body[6])
            return packet.body[6] == level ? ScriptedBroker.politely(packet) : refusal.reply
        }
    }

    final class Recorder: Sendable {
        private let list = Mutex<[UInt8]>([])
        func add(_ level: UInt8) { list.withLock { $0.append(level) } }
        var levels: [UInt8] { list.withLock(\.self) }
    }

    @Test(arguments: Refusal.allCases)
    func `A broker that does not speak MQTT 5 is spoken to with 3.1.1 at once, and from then on`(
        refusal: Refusal
    ) throws {
        let recorder = Recorder()
        let broker = try broker(accepting: 4, refusal, levels: recorder)
        defer { broker.close() }
        let owner = try BrokerClient(settings(broker.port))
        try owner.connection.start()
        #expect(owner.connects())
        #expect(owner.failures.isEmpty)
        #expect(recorder.levels == [5, 4])
        // The broker closes the connection at a message.
        owner.publish(1)
        #expect(eventually { recorder.levels.count >= 3 })
        #expect(recorder.levels.first == 5 && !recorder.levels.dropFirst().contains(5), "\(recorder.levels)")
    }

    @Test func `Where neither is accepted, MQTT 5 is tried again each time`() throws {
        let recorder = Recorder()
        let broker = try broker(accepting: 9, .silent, levels: recorder)
        defer { broker.close() }
        let owner = try BrokerClient(settings(broker.port))
        try owner.connection.start()
        #expect(eventually { recorder.levels.count >= 4 })
        #expect(recorder.levels.prefix(4) == [5, 4, 5, 4])
        #expect(!owner.failures.isEmpty)
    }

    static let invalid: [[UInt8]] = [
        // CONNACK with a property that does not exist, alone and behind a lawful one.
        [0x20, 5, 0, 0, 2, 0x7f, 0], [0x20, 8, 0, 0, 5, 0x21, 0, 20, 0x7f, 0],
        // PUBLISH, PUBACK, SUBACK, DISCONNECT and AUTH.
        [0x20, 3, 0, 0, 0, 0x30, 6, 0, 1, 0x61, 2, 0x7f, 0], [0x20, 3, 0, 0, 0, 0x40, 6, 0, 1, 0, 2, 0x7f, 0],
        [0x20, 3, 0, 0, 0, 0x90, 6, 0, 1, 2, 0x7f, 0, 0], [0xe0, 4, 0, 2, 0x7f, 0], [0xf0, 4, 0, 2, 0x7f, 0],
        // A packet of type 0, behind which libmosquitto would read others than the filter.
        [0, 4, 0, 0x20, 5, 0, 0, 2, 0x7f, 0],
    ]

    @Test(arguments: invalid)
    func `A packet that MQTT 5 forbids ends the connection with a reason, and not the process`(bytes: [UInt8]) throws {
        let broker = try ScriptedBroker { $0.type == 1 ? .bytes(bytes) : ScriptedBroker.politely($0) }
        defer { broker.close() }
        let owner = try BrokerClient(settings(broker.port, fallsBack: false))
        try owner.connection.start()
        #expect(eventually { owner.failures.count >= 2 })
        let isNamed = owner.failures.allSatisfy {
            if case .invalidPacket(let what) = $0 {
                what.hasSuffix("property 127 does not exist in MQTT 5")
            } else {
                $0 == .protocolViolation
            }
        }
        #expect(isNamed, "\(owner.failures)")
        #expect(owner.failures.contains { $0 == .protocolViolation } == (bytes[0] == 0))
    }

    @Test func `Who asks for one level only hears that it is refused`() throws {
        let recorder = Recorder()
        let broker = try broker(accepting: 4, .old, levels: recorder)
        defer { broker.close() }
        let owner = try BrokerClient(settings(broker.port, fallsBack: false))
        try owner.connection.start()
        #expect(eventually { !owner.failures.isEmpty })
        #expect(!recorder.levels.contains(4))
    }
}
