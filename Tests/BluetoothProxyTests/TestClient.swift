import BluetoothProxy
import Encryption

@testable import BluetoothProxy

/// The client's side of a connection, as Home Assistant has it, written after the Noise Protocol Framework alone.
struct TestClient {
    private let functions: NoiseFunctions
    private let secret: [UInt8]
    private var chain: [UInt8]
    private var transcript: [UInt8]
    private var cipher = NoiseCipher(key: [])
    private var sending: NoiseCipher?
    private var receiving: NoiseCipher?
    private var frames = FrameReader()
    /// What the server said in its hello, without the protocol.
    private(set) var hello: [UInt8]?
    /// Why the server refused the handshake.
    private(set) var refusal: String?
    /// Messages that were received, in order.
    private(set) var messages: [(type: UInt16, payload: [UInt8])] = []

    var isReady: Bool { sending != nil }

    init(key: [UInt8], secret: UInt8 = 7, functions: NoiseFunctions, prologue: [UInt8] = Array("NoiseAPIInit\0\0".utf8))
    {
        self.functions = functions
        self.secret = [UInt8](repeating: secret, count: 32)
        transcript = functions.hash(Array(NoiseHandshake.name.utf8))
        chain = transcript
        transcript = functions.hash(transcript + prologue)
        let keys = derive(key)
        chain = keys.0
        transcript = functions.hash(transcript + keys.1)
        cipher = NoiseCipher(key: keys.2)
    }

    private func derive(_ bytes: [UInt8]) -> ([UInt8], [UInt8], [UInt8]) {
        let key = functions.code(of: bytes, key: chain)
        let first = functions.code(of: [1], key: key)
        let second = functions.code(of: first + [2], key: key)
        return (first, second, functions.code(of: second + [3], key: key))
    }

    private mutating func mix(_ bytes: [UInt8]) {
        let keys = derive(bytes)
        chain = keys.0
        cipher = NoiseCipher(key: keys.1)
    }

    /// The empty hello, and the first message of the handshake.
    mutating func begin() -> [UInt8] { [1, 0, 0] + FrameReader.frame([0] + firstMessage()) }

    mutating func firstMessage(payload: [UInt8] = []) -> [UInt8] {
        let own = functions.publicKey(of: secret)
        transcript = functions.hash(transcript + own)
        mix(own)
        let sealed = cipher.seal(payload, beside: transcript, by: functions)
        transcript = functions.hash(transcript + sealed)
        return own + sealed
    }

    mutating func send(_ type: UInt16, _ payload: [UInt8] = []) -> [UInt8] {
        guard let sealed = sending?.seal(ProxyMessage(type: type, payload: payload).plaintext, by: functions) else {
            return []
        }
        return FrameReader.frame(sealed)
    }

    /// Takes bytes of the server.
    mutating func receive(_ bytes: [UInt8]) {
        frames.add(bytes)
        while let frame = try? frames.next() {
            if hello == nil {
                if frame.first == 1, frame.last == 0 { hello = Array(frame.dropFirst()) } else { refuse(frame) }
            } else if sending == nil {
                if frame.first == 0 { finish(Array(frame.dropFirst())) } else { refuse(frame) }
            } else if let plaintext = receiving?.open(frame, by: functions),
                let parts = ProxyMessage.parts(of: plaintext)
            {
                messages.append((parts.type, Array(parts.payload)))
            } else {
                refusal = "not decrypted"
            }
        }
    }

    mutating func takeMessages() -> [(type: UInt16, payload: [UInt8])] {
        defer { messages = [] }
        return messages
    }

    private mutating func refuse(_ frame: [UInt8]) {
        refusal = String(decoding: frame.dropFirst(), as: UTF8.self)
    }

    private mutating func finish(_ answer: [UInt8]) {
        let remote = Array(answer.prefix(32))
        transcript = functions.hash(transcript + remote)
        mix(remote)
        guard let shared = functions.agree(secret: secret, publicKey: remote) else { return }
        mix(shared)
        guard cipher.open(Array(answer.dropFirst(32)), beside: transcript, by: functions) != nil else {
            refusal = "not authentic"
            return
        }
        let keys = derive([])
        (sending, receiving) = (NoiseCipher(key: keys.0), NoiseCipher(key: keys.1))
    }
}
