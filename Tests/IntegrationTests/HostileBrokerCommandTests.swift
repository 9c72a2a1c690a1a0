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
        /// CONNACK, and then a packet with an unknown property for each subscription.
        case unknownPropertyLater

        func reply(to packet: ScriptedBroker.Packet) -> ScriptedBroker.Reply {
            switch self {
            case .unknownProperty: .bytes([0x20, 5, 0, 0, 2, 0x7f, 0])
            case .longProperties: .bytes([0x20, 3, 0, 0, 0x7f])
            case .garbage: .bytes(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
            case .endlessLength: .bytes([0x20, 0xff, 0xff, 0xff, 0xff, 0xff])
            case .unknownPropertyLater where packet.type == 1: .bytes([0x20, 3, 0, 0, 0])
            case .unknownPropertyLater where packet.type == 8: .bytes([0x90, 6] + packet.identifier + [2, 0x7f, 0, 1])
            case .unknownPropertyLater: .bytes([])
            }
        }
    }

    private static let commands = [
        ["doctor", "--listen", "0"], ["rooms", "status"], ["rooms", "tags", "list"],
        ["rooms", "learn", "Kitchen", "--tag", "jane"],
        ["phones", "list"], ["report"],
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
            let broker = try ScriptedBroker(reply: answer.reply)
            defer { broker.close() }
            let directory = try TemporaryDirectory()
            let file = try directory.write(
                #"{_type: "configuration", host: "127.0.0.1", port: \#(broker.port), deviceId: "hall", http: null, "#
                    + #"rooms: {}, scanner: {capture: "\#(GatewayProcess.fixtures)/demo.btsnoop"}}"#, to: "config.json")
            let ended = try isOrderly(
                ["--config", file, "--state-dir", directory.file("state")] + words, in: directory)
            #expect(ended.code >= 0, "\(words) at \(answer): \(ended)")
            #expect(!ended.text.isEmpty)
            if words[0] == "doctor" { #expect(ended.code != 0, "\(words) at \(answer): \(ended)") }
        }
    }

    @Test(arguments: Answer.allCases)
    func `setup writes nothing at such a broker`(answer: Answer) throws {
        let broker = try ScriptedBroker(reply: answer.reply)
        defer { broker.close() }
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
        #expect((try? directory.read("config.json")) == nil)
    }
}
