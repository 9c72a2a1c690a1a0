import Synchronization
import TestSupport
import Testing

/// Commands at brokers that send what MQTT does not allow. libmosquitto 2.0.11, as in Debian 12, ended a program at some of it.
@Suite struct HostileBrokerCommandTests {
    /// What the broker answers.
    enum Answer: String, CaseIterable {
        /// CONNACK of MQTT 5 with a property that does not exist.
        case unknownProperty
        /// CONNACK of MQTT 5 in which the properties are longer than the packet.
        case longProperties
        /// No packet of MQTT.
        case garbage
        /// A length of more bytes than a packet may have.
        case endlessLength
        /// CONNACK, and then a packet with an unknown property for each subscription and message.
        case unknownPropertyLater

        func reply(to packet: ScriptedBroker.Packet) -> ScriptedBroker.Reply {
            switch self {
            case .unknownProperty: .bytes([0x20, 5, 0, 0, 2, 0x7f, 0])
            case .longProperties: .bytes([0x20, 3, 0, 0, 0x7f])
            case .garbage: .bytes(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
            case .endlessLength: .bytes([0x20, 0xff, 0xff, 0xff, 0xff, 0xff])
            case .unknownPropertyLater where packet.type == 1: .bytes([0x20, 3, 0, 0, 0])
            case .unknownPropertyLater where packet.type == 8: .bytes([0x90, 6] + packet.identifier + [2, 0x7f, 0, 1])
            case .unknownPropertyLater where packet.type == 3: .bytes([0x40, 6] + packet.identifier + [0, 2, 0x7f, 0])
            case .unknownPropertyLater: .bytes([])
            }
        }
    }

    /// Such a broker, which counts what it was sent.
    private final class HostileBroker: Sendable {
        private let counts: Counts
        private let broker: ScriptedBroker

        /// By the type of the packet.
        private final class Counts: Sendable {
            let byType = Mutex<[UInt8: Int]>([:])
        }

        init(_ answer: Answer) throws {
            let counts = Counts()
            self.counts = counts
            broker = try ScriptedBroker { packet in
                counts.byType.withLock { $0[packet.type, default: 0] += 1 }
                return answer.reply(to: packet)
            }
        }

        deinit { broker.close() }

        var port: UInt16 { broker.port }
        /// Attempts to connect that arrived.
        var connects: Int { count(of: [1]) }
        /// Messages and subscriptions that arrived.
        var requests: Int { count(of: [3, 8]) }

        private func count(of types: [UInt8]) -> Int {
            counts.byType.withLock { all in types.reduce(0) { $0 + (all[$1] ?? 0) } }
        }
    }

    /// Every command that connects, but for `setup`.
    private static let commands = [
        ["doctor", "--listen", "0"], ["report"], ["rooms", "status"], ["rooms", "find", "jane"], ["rooms", "gateways"],
        ["rooms", "gateways", "remove", "attic"], ["rooms", "gateways", "moved", "attic"], ["rooms", "clear"],
        ["rooms", "learn", "Kitchen", "--tag", "jane"], ["rooms", "rename", "Hall", "Lounge"],
        ["rooms", "forget", "Hall"],
    ]

    private func isOrderly(_ arguments: [String], in directory: TemporaryDirectory) throws -> (
        code: Int32, text: String
    ) {
        let process = try ChildProcess(try GatewayProcess.program, arguments, output: directory.file("said"))
        let hasEnded = eventually { !process.isRunning }
        if !hasEnded { process.send(9) }
        return (process.wait(), String(decoding: try directory.read("said"), as: UTF8.self))
    }

    @Test(arguments: Answer.allCases)
    func `No command ends by a signal, or never, at such a broker`(answer: Answer) throws {
        for words in Self.commands {
            let broker = try HostileBroker(answer)
            let directory = try TemporaryDirectory()
            let file = try directory.write(
                #"{_type: "configuration", host: "127.0.0.1", port: \#(broker.port), deviceId: "hall", http: null, "#
                    + #"lat: 48, lon: 16, rooms: {}, scanner: {capture: "\#(GatewayProcess.fixtures)/demo.btsnoop"}}"#,
                to: "config.json")
            let ended = try isOrderly(
                ["--config", file, "--state-dir", directory.file("state")] + words, in: directory)
            #expect(ended.code > 0, "\(words) at \(answer): \(ended)")
            #expect(!ended.text.isEmpty)
            #expect(broker.connects > 0, "\(words) did not get to the broker: \(ended)")
            if answer == .unknownPropertyLater { #expect(broker.requests > 0, "\(words) asked for nothing: \(ended)") }
        }
    }

    @Test(arguments: Answer.allCases)
    func `setup writes nothing at such a broker`(answer: Answer) throws {
        let broker = try HostileBroker(answer)
        let directory = try TemporaryDirectory()
        let file = directory.file("config.json")
        let ended = try isOrderly(
            [
                "--config", file, "--state-dir", directory.file("state"), "setup", "--yes", "--host", "127.0.0.1",
                "--port",
                "\(broker.port)", "--room", "Hall",
            ], in: directory)
        #expect(ended.code > 0, "\(answer): \(ended)")
        #expect(ended.text.contains("nothing was written"), "\(answer): \(ended)")
        #expect(broker.connects > 0, "\(ended)")
        #expect((try? directory.read("config.json")) == nil)
    }
}
