/// The functions of a library for cryptography from which `Noise_NNpsk0_25519_ChaChaPoly_SHA256` is made.
package protocol NoisePrimitives: Sendable {
    /// SHA-256, 32 bytes.
    func hash(_ bytes: [UInt8]) -> [UInt8]
    /// HMAC-SHA-256, 32 bytes.
    func code(of bytes: [UInt8], key: [UInt8]) -> [UInt8]
    /// X25519 with the base point.
    ///
    /// - Parameter secret: 32 bytes.
    func publicKey(of secret: [UInt8]) -> [UInt8]
    /// X25519.
    ///
    /// - Returns: nil for a public key of low order, with which the result does not depend on the secret.
    func agree(secret: [UInt8], publicKey: [UInt8]) -> [UInt8]?
    /// ChaCha20-Poly1305 (RFC 8439): the ciphertext, and 16 bytes of tag after it.
    ///
    /// - Parameter nonce: 12 bytes, which are never used twice with one key.
    func seal(_ plaintext: [UInt8], beside data: [UInt8], nonce: [UInt8], key: [UInt8]) -> [UInt8]
    /// The reverse of `seal`.
    ///
    /// - Returns: nil if the tag is wrong.
    func open(_ sealed: [UInt8], beside data: [UInt8], nonce: [UInt8], key: [UInt8]) -> [UInt8]?
}
