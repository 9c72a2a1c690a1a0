import Base
import Encryption
import ProxyLink
import Testing

@testable import BluetoothProxy

@Suite struct NoiseTests {
    private let functions: NoiseFunctions
    private let key = [UInt8](repeating: 3, count: 32)
    private let secret = [UInt8](repeating: 9, count: 32)

    init() throws { functions = try #require(NoiseFunctions()) }

    /// The vector of this protocol in cacophony's list, as the repository of snow has it (tests/vectors/cacophony.txt, 2026-03-25).
    @Test func `The public vector is answered byte for byte`() throws {
        let psk = bytes("54686973206973206d7920417573747269616e20706572737065637469766521")
        var server = NoiseHandshake(key: psk, prologue: bytes("4a6f686e2047616c74"), primitives: functions)
        let first = bytes(
            "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944"
                + "79b962b8aff8485742ac32f905ba45369e2465fb59e138a93d67a0d1266b6a54")
        #expect(server.read(first) == bytes("4c756477696720766f6e204d69736573"))
        let ephemeral = bytes("bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b")
        let second = bytes(
            "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f144808843"
                + "d6062704d5a9c422a8e834423f8c1feada7e8d0d910a1a2cd030fb584221e3")
        #expect(server.write(bytes("4d757272617920526f746862617264"), secret: ephemeral) == second)
        var (receiving, sending) = server.split()
        #expect(
            receiving.open(bytes("e632c3763d7669067383433197a3baddf146e9e70ad4b4e9e59e0f"), by: functions)
                == bytes("462e20412e20486179656b"))
        #expect(
            sending.seal(bytes("4361726c204d656e676572"), by: functions)
                == bytes("64c6bee32ea91c8474bb4c21d7a700109ad45af77b29764ba5eb1e"))
        #expect(
            receiving.open(bytes("e2fa0bed0603b62d3ccac2ecabbf3fe33f3e86514909b323361626266cb2471cc8"), by: functions)
                == bytes("4a65616e2d426170746973746520536179"))
        #expect(
            sending.seal(bytes("457567656e2042f6686d20766f6e2042617765726b"), by: functions)
                == bytes("0c01dc9cec1fe4ddd692e8dd32188aa351088dc91183639a53b57aa4692b5ebdef8b8ca111"))
    }

    @Test func `A first message of another key, of another prologue, changed or cut off is not read`() {
        var client = TestClient(key: key, functions: functions, prologue: [1])
        let first = client.firstMessage()
        func reads(_ message: [UInt8], key: [UInt8], prologue: [UInt8] = [1]) -> Bool {
            var server = NoiseHandshake(key: key, prologue: prologue, primitives: functions)
            return server.read(message) != nil
        }
        #expect(reads(first, key: key))
        #expect(!reads(first, key: secret))
        #expect(!reads(first, key: key, prologue: []))
        for index in first.indices {
            var changed = first
            changed[index] ^= 1
            #expect(!reads(changed, key: key))
        }
        #expect(!reads(first.dropLast(), key: key))
        #expect(!reads([], key: key))
    }

    @Test func `A public key with which nothing is secret is refused`() {
        var server = NoiseHandshake(key: key, prologue: [], primitives: functions)
        let zero = [UInt8](repeating: 0, count: 32)
        // Nobody without the key gets so far.
        _ = server.read(zero + [UInt8](repeating: 0, count: 16))
        #expect(server.write([], secret: secret) == nil)
    }

    @Test func `A message that is repeated or left out is not read, and the next one still is`() {
        var (sending, receiving) = (NoiseCipher(key: key), NoiseCipher(key: key))
        let messages = (0..<3).map { sending.seal([$0], by: functions) }
        #expect(receiving.open(messages[0], by: functions) == [0])
        #expect(receiving.open(messages[0], by: functions) == nil)
        #expect(receiving.open(messages[2], by: functions) == nil)
        #expect(receiving.open(messages[1], by: functions) == [1])
    }

    @Test func `A key has 32 bytes, is not zero, and is not shown`() throws {
        #expect(ProxyKey([UInt8](repeating: 0, count: 32)) == nil)
        #expect(ProxyKey([UInt8](repeating: 1, count: 31)) == nil)
        let key = try #require(ProxyKey(key))
        #expect("\(key)" == Secret.mask && String(reflecting: key) == Secret.mask)
        #expect(Mirror(reflecting: key).children.isEmpty)
    }
}
