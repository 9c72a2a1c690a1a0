/// The side of `Noise_NNpsk0_25519_ChaChaPoly_SHA256` that is asked: it reads the first message and writes the second (the Noise
/// Protocol Framework, revision 34, chapters 5 and 9). Whoever sends a first message that can be read knows the key.
struct NoiseHandshake {
    static let name = "Noise_NNpsk0_25519_ChaChaPoly_SHA256"
    /// Bytes of the pre-shared key, and of a public or secret key.
    static let keyLength = 32
    /// Bytes of the first message without a payload.
    static let firstMessageLength = keyLength + NoiseCipher.tagLength

    private let primitives: any NoisePrimitives
    private var chain: [UInt8]
    private var transcript: [UInt8]
    private var cipher: NoiseCipher
    /// The other side's public key.
    private var remote: [UInt8] = []

    /// - Parameters:
    ///   - key: The pre-shared key, 32 bytes.
    ///   - prologue: What both sides have said in clear before.
    init(key: [UInt8], prologue: [UInt8], primitives: any NoisePrimitives) {
        self.primitives = primitives
        // The name has more than 32 bytes, so its hash begins the transcript.
        transcript = primitives.hash(Array(Self.name.utf8))
        chain = transcript
        cipher = NoiseCipher(key: [])
        mixHash(prologue)
        // The token psk begins the first message.
        let keys = derive(key)
        chain = keys.first
        mixHash(keys.second)
        cipher = NoiseCipher(key: keys.third)
    }

    /// The first message: e.
    ///
    /// - Returns: Its payload; nil if it was made with another key.
    mutating func read(_ message: [UInt8]) -> [UInt8]? {
        guard message.count >= Self.firstMessageLength else { return nil }
        remote = Array(message[..<Self.keyLength])
        mixHash(remote)
        mixKey(remote)
        let sealed = Array(message[Self.keyLength...])
        guard let payload = cipher.open(sealed, beside: transcript, by: primitives) else { return nil }
        mixHash(sealed)
        return payload
    }

    /// The second message: e, ee.
    ///
    /// - Parameter secret: 32 random bytes that are used for this connection alone.
    /// - Returns: nil if the other side's public key is one of those with which nothing is secret.
    mutating func write(_ payload: [UInt8], secret: [UInt8]) -> [UInt8]? {
        let own = primitives.publicKey(of: secret)
        mixHash(own)
        mixKey(own)
        guard let shared = primitives.agree(secret: secret, publicKey: remote) else { return nil }
        mixKey(shared)
        let sealed = cipher.seal(payload, beside: transcript, by: primitives)
        mixHash(sealed)
        return own + sealed
    }

    /// The ciphers of the messages after the handshake.
    func split() -> (receiving: NoiseCipher, sending: NoiseCipher) {
        let keys = derive([])
        return (NoiseCipher(key: keys.first), NoiseCipher(key: keys.second))
    }

    private mutating func mixHash(_ bytes: [UInt8]) { transcript = primitives.hash(transcript + bytes) }

    /// With a pre-shared key a public key is mixed into the chain as a shared secret is.
    private mutating func mixKey(_ bytes: [UInt8]) {
        let keys = derive(bytes)
        chain = keys.first
        cipher = NoiseCipher(key: keys.second)
    }

    /// HKDF of the chain.
    private func derive(_ bytes: [UInt8]) -> (first: [UInt8], second: [UInt8], third: [UInt8]) {
        let key = primitives.code(of: bytes, key: chain)
        let first = primitives.code(of: [1], key: key)
        let second = primitives.code(of: first + [2], key: key)
        return (first, second, primitives.code(of: second + [3], key: key))
    }
}
