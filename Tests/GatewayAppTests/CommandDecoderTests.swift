import Base
import Configuration
import Encryption
import JSON
import Messaging
import OwnTracks
import Testing

@testable import GatewayApp

/// What tells encrypted commands apart, whatever topic they come on and however their envelope is written.
struct CommandDecoderTests {
    private static let key = "correct horse battery staple"
    private static let clear = #"{"_type":"cmd","action":"clearWaypoints","tst":1700000000}"#

    private let decoder: CommandDecoder
    private let cipher: PayloadCipher

    init() throws {
        let text =
            "{_type: \"configuration\", username: \"jane\", deviceId: \"hall\", encryptionKey: \"\(Self.key)\", "
            + "trackers: [{tid: \"K1\", deviceId: \"keys\"}]}"
        let configuration = try Configuration(parsing: Array(text.utf8), hostName: "test")
        decoder = CommandDecoder(configuration, ciphers: Ciphers(configuration))
        cipher = try #require(PayloadCipher(key: Secret(Self.key)))
    }

    private func read(_ payload: [UInt8], on device: String = "hall", isAnswer: Bool = false) throws -> ReceivedCommands
    {
        let message = ReceivedMessage(
            topic: "owntracks/jane/\(device)/cmd", payload: payload, qos: .atLeastOnce, retained: false,
            isAnswer: isAnswer)
        return try #require(decoder.read(message))
    }

    @Test func `The same envelope is the same on every topic, in every spelling, and in an answer over HTTP`() throws {
        let envelope = cipher.encrypt(Array(Self.clear.utf8))
        let first = try read(envelope.payload.bytes)
        #expect(first.wasEncrypted && first.envelopes.count == 1)
        #expect(first.envelopes.first?.time == 1_700_000_000)
        let spelt = Array(#" { "data" : "\#(envelope.data)", "x": 1, "_type": "encrypted" } "#.utf8)
        let same = [
            try read(envelope.payload.bytes, on: "keys"), try read(spelt),
            try read(envelope.payload.bytes, isAnswer: true),
        ]
        #expect(same.allSatisfy { $0.envelopes == first.envelopes })
        #expect(Set(try [first, read(spelt)].map(\.digest)).count == 2)
    }

    @Test func `What is encrypted again is another envelope, and so is each command of one`() throws {
        let text = Array("[\(Self.clear),\(Self.clear)]".utf8)
        let envelopes = try (0..<2).flatMap { _ in try read(cipher.encrypt(text).payload.bytes).envelopes }
        #expect(Set(envelopes.map(\.nonce)).count == 4)
    }

    @Test func `An encrypted message without a command is refused, and not passed over`() throws {
        let received = try read(cipher.encrypt(Array("[]".utf8)).payload.bytes)
        #expect(received.commands == [.failure(.notAnObject("an empty array"))] && received.envelopes.isEmpty)
    }

    @Test func `An empty message removes a retained command, and is none itself`() {
        let message = ReceivedMessage(
            topic: "owntracks/jane/hall/cmd", payload: [], qos: .atLeastOnce, retained: false, isAnswer: false)
        #expect(decoder.read(message) == nil)
    }

    @Test func `A plain command has no envelope, and neither has one of another key`() throws {
        #expect(try read(Array(Self.clear.utf8)).envelopes.isEmpty)
        let other = try #require(PayloadCipher(key: Secret("another")))
        let refused = try read(other.encrypt(Array(Self.clear.utf8)).payload.bytes)
        #expect(refused.envelopes.isEmpty && refused.wasEncrypted)
        #expect(refused.commands.allSatisfy { if case .failure = $0 { true } else { false } })
    }
}
