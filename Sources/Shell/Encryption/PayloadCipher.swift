package import Base
import CSodium
import JSON
package import OwnTracks

/// OwnTracks payload encryption: `base64(nonce[24] ‖ crypto_secretbox_easy(plaintext))`, XSalsa20-Poly1305.
/// The key is the passphrase's bytes, zero-padded to 32, as in the apps. So a long random passphrase is the only
/// protection against guessing.
package struct PayloadCipher: Sendable {
    /// Bytes of a key. Programs of OwnTracks truncate longer keys at different lengths.
    package static let longestKey = 32
    private static let nonceLength = 24
    private static let tagLength = 16

    private let key: [UInt8]

    /// - Parameter secret: 1 … 32 bytes of UTF-8.
    /// - Returns: nil for a key of another length, or if libsodium finds no source of randomness.
    package init?(key secret: Secret) {
        guard sodium_init() >= 0 else { return nil }
        let bytes = Array(secret.revealed.utf8)
        guard !bytes.isEmpty, bytes.count <= Self.longestKey else { return nil }
        key = bytes + [UInt8](repeating: 0, count: Self.longestKey - bytes.count)
    }

    /// The encrypted message, with its own nonce.
    package func encrypt(_ plaintext: [UInt8]) -> EncryptedMessage {
        var nonce = [UInt8](repeating: 0, count: Self.nonceLength)
        randombytes_buf(&nonce, nonce.count)
        return encrypt(plaintext, nonce: nonce)
    }

    /// For test vectors: never use a nonce twice with one key.
    func encrypt(_ plaintext: [UInt8], nonce: [UInt8]) -> EncryptedMessage {
        var sealed = [UInt8](repeating: 0, count: plaintext.count + Self.tagLength)
        // Fails only for messages of more than 2^38 bytes.
        _ = crypto_secretbox_easy(&sealed, plaintext, UInt64(plaintext.count), nonce, key)
        return EncryptedMessage(data: Base64.encode(nonce + sealed))
    }

    // MARK: Whole payloads

    private static let head = Array(#"{"_type":"encrypted","data":""#.utf8)
    private static let tail = Array(#""}"#.utf8)
    /// Longest envelope of another form than `sealed` writes, bytes.
    private static let longestForeign = 128 << 10

    /// Whether a payload is encrypted, in the form that `sealed` writes.
    package static func isSealed(_ payload: [UInt8]) -> Bool { payload.starts(with: head) }

    /// The envelope as a payload: `{"_type":"encrypted","data":"…"}`.
    package func sealed(_ plaintext: [UInt8]) -> [UInt8] {
        Self.head + encrypt(plaintext).data.utf8 + Self.tail
    }

    /// Opens a payload. The form that `sealed` writes is read without a tree of JSON values, because a rooms service opens
    /// a thousand payloads in a second.
    package func opened(_ payload: [UInt8]) throws(DecryptionError) -> OpenedEnvelope {
        if Self.isSealed(payload), payload.count >= Self.head.count + Self.tail.count,
            payload.suffix(Self.tail.count).elementsEqual(Self.tail)
        {
            let data = payload[Self.head.count..<(payload.count - Self.tail.count)]
            if let bytes = Base64.decode(data) { return try opened(bytes: bytes) }
        }
        guard payload.count <= Self.longestForeign, let json = try? JSONValue(parsing: payload),
            let message = EncryptedMessage(json)
        else { throw .notEncrypted }
        return try opened(message)
    }

    /// The decrypted message. A NUL that some senders append is removed.
    package func decrypt(_ message: EncryptedMessage) throws(DecryptionError) -> [UInt8] {
        try opened(message).plaintext
    }

    /// The decrypted message and its nonce. A NUL that some senders append is removed.
    package func opened(_ message: EncryptedMessage) throws(DecryptionError) -> OpenedEnvelope {
        guard let bytes = Base64.decode(Array(message.data.utf8)[...]) else { throw .notBase64 }
        return try opened(bytes: bytes)
    }

    private func opened(bytes: [UInt8]) throws(DecryptionError) -> OpenedEnvelope {
        guard bytes.count >= Self.nonceLength + Self.tagLength else { throw .tooShort(bytes: bytes.count) }
        let nonce = Array(bytes[..<Self.nonceLength])
        let sealed = Array(bytes[Self.nonceLength...])
        var plaintext = [UInt8](repeating: 0, count: sealed.count - Self.tagLength)
        guard crypto_secretbox_open_easy(&plaintext, sealed, UInt64(sealed.count), nonce, key) == 0 else {
            throw .notAuthentic
        }
        if plaintext.last == 0 { plaintext.removeLast() }
        return OpenedEnvelope(plaintext: plaintext, nonce: nonce)
    }
}

extension PayloadCipher: CustomStringConvertible {
    package var description: String { Secret.mask }
}

/// Base64 as libsodium does it: the standard alphabet, padded, nothing else in between.
private enum Base64 {
    static func encode(_ bytes: [UInt8]) -> String {
        let length = sodium_base64_encoded_len(bytes.count, sodium_base64_VARIANT_ORIGINAL)
        var text = [CChar](repeating: 0, count: length)
        sodium_bin2base64(&text, length, bytes, bytes.count, sodium_base64_VARIANT_ORIGINAL)
        return String(decoding: text.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        // libsodium 1.0.18 treats bytes above 0x7F as digits where C's char is signed.
        guard text.allSatisfy({ $0 < 0x80 }) else { return nil }
        var bytes = [UInt8](repeating: 0, count: text.count / 4 * 3 + 3)
        var count = 0
        let result = text.withUnsafeBytes { digits in
            sodium_base642bin(
                &bytes, bytes.count, digits.bindMemory(to: CChar.self).baseAddress, digits.count, nil, &count, nil,
                sodium_base64_VARIANT_ORIGINAL)
        }
        // Without an end pointer libsodium accepts only the whole text.
        return result == 0 ? Array(bytes[..<count]) : nil
    }
}
