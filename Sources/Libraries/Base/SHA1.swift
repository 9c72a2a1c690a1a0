/// SHA-1 (FIPS 180-4, 6.1). Not for security: OwnTracks derives region identifiers with it, and UUIDs of version 5 are made
/// of it.
///
/// The project has its own, because this target is pure: a library would tie the region rules to C for six hexadecimal
/// digits.
package enum SHA1 {
    /// The digest as five words, most significant first.
    package static func digest(of message: some Collection<UInt8>) -> [UInt32] {
        var bytes = Array(message)
        let bitLength = UInt64(bytes.count) * 8
        bytes.append(0x80)
        while bytes.count % 64 != 56 { bytes.append(0) }
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: bitLength >> UInt64(shift)))
        }
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
        for block in stride(from: 0, to: bytes.count, by: 64) {
            mix(bytes, from: block, into: &state)
        }
        return state
    }

    /// In plain loops: where the program is not optimised, as in tests, they take a fifth of the time of closures and ranges.
    private static func mix(_ bytes: [UInt8], from start: Int, into state: inout [UInt32]) {
        var words = [UInt32](repeating: 0, count: 80)
        var index = 0
        while index < 16 {
            let byte = start &+ 4 &* index
            words[index] =
                UInt32(bytes[byte]) &<< 24 | UInt32(bytes[byte &+ 1]) &<< 16 | UInt32(bytes[byte &+ 2]) &<< 8
                | UInt32(bytes[byte &+ 3])
            index &+= 1
        }
        while index < 80 {
            let word = words[index &- 3] ^ words[index &- 8] ^ words[index &- 14] ^ words[index &- 16]
            words[index] = rotate(word, by: 1)
            index &+= 1
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        index = 0
        while index < 80 {
            var next = rotate(a, by: 5) &+ e &+ words[index]
            if index < 20 {
                next = next &+ (b & c | ~b & d) &+ 0x5a82_7999
            } else if index < 40 {
                next = next &+ (b ^ c ^ d) &+ 0x6ed9_eba1
            } else if index < 60 {
                next = next &+ (b & c | b & d | c & d) &+ 0x8f1b_bcdc
            } else {
                next = next &+ (b ^ c ^ d) &+ 0xca62_c1d6
            }
            e = d
            d = c
            c = rotate(b, by: 30)
            b = a
            a = next
            index &+= 1
        }
        state[0] &+= a
        state[1] &+= b
        state[2] &+= c
        state[3] &+= d
        state[4] &+= e
    }

    private static func rotate(_ word: UInt32, by bits: UInt32) -> UInt32 { word &<< bits | word &>> (32 &- bits) }
}
