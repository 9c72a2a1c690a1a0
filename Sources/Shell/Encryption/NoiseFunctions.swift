import CSodium

/// The functions of `Noise_NNpsk0_25519_ChaChaPoly_SHA256` (the Noise Protocol Framework, revision 34, chapter 12).
package struct NoiseFunctions: Sendable {
    private static let length = 32
    private static let tagLength = 16

    /// - Returns: nil if libsodium finds no source of randomness.
    package init?() {
        guard sodium_init() >= 0 else { return nil }
    }

    /// 32 random bytes.
    package func random() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.length)
        randombytes_buf(&bytes, bytes.count)
        return bytes
    }

    package func hash(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Self.length)
        crypto_hash_sha256(&digest, bytes, UInt64(bytes.count))
        return digest
    }

    /// HMAC-SHA-256.
    package func code(of bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var state = crypto_auth_hmacsha256_state()
        var code = [UInt8](repeating: 0, count: Self.length)
        crypto_auth_hmacsha256_init(&state, key, key.count)
        crypto_auth_hmacsha256_update(&state, bytes, UInt64(bytes.count))
        crypto_auth_hmacsha256_final(&state, &code)
        return code
    }

    /// - Parameter secret: 32 bytes.
    package func publicKey(of secret: [UInt8]) -> [UInt8] {
        var key = [UInt8](repeating: 0, count: Self.length)
        guard secret.count == Self.length else { return key }
        crypto_scalarmult_base(&key, secret)
        return key
    }

    /// - Returns: nil for a public key of low order, and for keys of another length than 32 bytes.
    package func agree(secret: [UInt8], publicKey: [UInt8]) -> [UInt8]? {
        guard secret.count == Self.length, publicKey.count == Self.length else { return nil }
        var shared = [UInt8](repeating: 0, count: Self.length)
        return crypto_scalarmult(&shared, secret, publicKey) == 0 ? shared : nil
    }

    /// - Parameters:
    ///   - nonce: 12 bytes.
    ///   - key: 32 bytes.
    package func seal(_ plaintext: [UInt8], beside data: [UInt8], nonce: [UInt8], key: [UInt8]) -> [UInt8] {
        var sealed = [UInt8](repeating: 0, count: plaintext.count + Self.tagLength)
        guard isUsable(nonce, key) else { return sealed }
        crypto_aead_chacha20poly1305_ietf_encrypt(
            &sealed, nil, plaintext, UInt64(plaintext.count), data, UInt64(data.count), nil, nonce, key)
        return sealed
    }

    /// - Returns: nil if the tag is wrong.
    package func open(_ sealed: [UInt8], beside data: [UInt8], nonce: [UInt8], key: [UInt8]) -> [UInt8]? {
        guard sealed.count >= Self.tagLength, isUsable(nonce, key) else { return nil }
        var plaintext = [UInt8](repeating: 0, count: sealed.count - Self.tagLength)
        let result = crypto_aead_chacha20poly1305_ietf_decrypt(
            &plaintext, nil, nil, sealed, UInt64(sealed.count), data, UInt64(data.count), nonce, key)
        return result == 0 ? plaintext : nil
    }

    private func isUsable(_ nonce: [UInt8], _ key: [UInt8]) -> Bool { nonce.count == 12 && key.count == Self.length }
}
