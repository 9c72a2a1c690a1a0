/// Base64 (RFC 4648, sections 4 and 5).
package enum Base64 {
    /// The bytes of a text in either alphabet. Blanks and line breaks are skipped; the padding may be missing.
    ///
    /// - Returns: nil for anything else, and for an empty text.
    package static func bytes(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var (digits, padding) = (0, 0)
        for byte in text {
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): continue
            case UInt8(ascii: "="):
                padding += 1
                continue
            default: break
            }
            guard padding == 0, let value = value(of: byte) else { return nil }
            bits = bits << 6 | UInt32(value)
            digits += 1
            if digits % 4 == 0 { bytes += [UInt8(bits >> 16 & 0xff), UInt8(bits >> 8 & 0xff), UInt8(bits & 0xff)] }
        }
        guard digits > 0, padding == 0 || (digits + padding) % 4 == 0 && padding < 3 else { return nil }
        switch digits % 4 {
        case 0: return bytes
        case 2: return bits & 15 == 0 ? bytes + [UInt8(bits >> 4 & 0xff)] : nil
        case 3: return bits & 3 == 0 ? bytes + [UInt8(bits >> 10 & 0xff), UInt8(bits >> 2 & 0xff)] : nil
        default: return nil
        }
    }

    /// The text of bytes in the first alphabet, with its padding.
    package static func text(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            let bits = part.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - part.count))
            for digit in 0..<4 {
                let value = Int(bits >> UInt32(18 - 6 * digit) & 63)
                text.append(digit <= part.count ? alphabet[value] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
