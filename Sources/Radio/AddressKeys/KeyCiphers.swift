import CCrypto
package import Identities

/// The function `ah` of keys, with AES-128 of libcrypto, which is in memory already because libmosquitto needs it.
package final class KeyCiphers: AddressHash {
    /// A cipher for each key as it was written and one for its reverse, in turns.
    private var ciphers: [OpaquePointer] = []

    /// - Returns: nil if libcrypto offers no AES-128, which a restricted build of it may do.
    package init?(_ keys: [IdentityKey]) {
        for key in keys.flatMap({ [$0, $0.reversed] }) {
            guard let cipher = EVP_CIPHER_CTX_new() else { return nil }
            ciphers.append(cipher)
            var words = (key.high.bigEndian, key.low.bigEndian)
            let isSet = withUnsafeBytes(of: &words) { bytes in
                EVP_EncryptInit_ex(
                    cipher, EVP_aes_128_ecb(), nil, bytes.bindMemory(to: UInt8.self).baseAddress, nil)
            }
            guard isSet == 1 else { return nil }
            EVP_CIPHER_CTX_set_padding(cipher, 0)
        }
    }

    deinit {
        // It also overwrites the key.
        for cipher in ciphers { EVP_CIPHER_CTX_free(cipher) }
    }

    package func hash(of random: UInt32, key: Int, isReversed: Bool) -> UInt32 {
        // 104 bits of zeros before the random part, most significant octet first.
        var block = (UInt64(0), UInt64(random).bigEndian)
        let cipher = ciphers[2 * key + (isReversed ? 1 : 0)]
        let isDone = withUnsafeMutableBytes(of: &block) { bytes in
            let octets = bytes.bindMemory(to: UInt8.self).baseAddress
            var count: CInt = 0
            return EVP_EncryptUpdate(cipher, octets, &count, octets, 16)
        }
        // No hash has 32 bits, so that a failed encryption fits nothing.
        return isDone == 1 ? UInt32(truncatingIfNeeded: UInt64(bigEndian: block.1) & 0xff_ffff) : .max
    }
}
