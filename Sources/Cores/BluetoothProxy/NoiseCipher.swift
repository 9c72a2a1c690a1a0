/// One direction of an encrypted connection: a key, and the number of the next message.
struct NoiseCipher {
    /// Bytes that a ciphertext has more than its plaintext.
    static let tagLength = 16

    private let key: [UInt8]
    private var number: UInt64 = 0

    init(key: [UInt8]) { self.key = key }

    mutating func seal(_ plaintext: [UInt8], beside data: [UInt8] = [], by primitives: any NoisePrimitives) -> [UInt8] {
        defer { number += 1 }
        return primitives.seal(plaintext, beside: data, nonce: nonce, key: key)
    }

    /// - Returns: nil if the message was made with another key, changed, left out or repeated. The number does not advance then.
    mutating func open(_ sealed: [UInt8], beside data: [UInt8] = [], by primitives: any NoisePrimitives) -> [UInt8]? {
        guard let plaintext = primitives.open(sealed, beside: data, nonce: nonce, key: key) else { return nil }
        number += 1
        return plaintext
    }

    /// Four zero bytes, and the number, least significant byte first.
    private var nonce: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 12)
        for index in 0..<8 { bytes[4 + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index)) }
        return bytes
    }
}
