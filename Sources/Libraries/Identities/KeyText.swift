import Base

/// The text of a key, as converters, other systems and their files have it.
///
/// - What may stand around it: `irk:`, `IRK=`, `Key=` (bluetoothd's file), `hex:` (Windows' registry), `0x`, quotes, angle brackets
///   (macOS), `<data>…</data>` (a property list).
/// - The key: 32 hexadecimal digits, with blanks, `:`, `-`, `,` or the `\` of a continued line between them, each pair with or without
///   `0x`; or 22 digits of base64, with or without its `==`.
package enum KeyText {
    package enum Reading: Hashable, Sendable {
        case key(IdentityKey)
        /// What the text has instead of a key. It shows nothing of the text.
        case fault(String)
    }

    /// Longer texts are not read.
    private static let longest = 256

    package static func read(_ text: some Sequence<UInt8>) -> Reading {
        let bytes = Array(text.prefix(longest + 1))
        guard bytes.count <= longest else { return .fault("it is longer than \(longest) characters") }
        let content = unwrapped(bytes[...])
        guard !content.isEmpty else { return .fault("it is empty") }
        let octets: [UInt8]
        switch hexadecimal(content) {
        case .octets(let found): octets = found
        case .digits(let count): return .fault("it has \(count) hexadecimal digits")
        case .other:
            guard let found = base64(content) else {
                return .fault("it has \(content.count) characters, and some of them are no hexadecimal digits")
            }
            octets = found
        }
        let (high, low) = (number(octets[..<8]), number(octets[8...]))
        guard high | low != 0 else { return .fault("it is all zeros, which devices send that have no key") }
        return .key(IdentityKey(high: high, low: low))
    }

    private static func number(_ octets: ArraySlice<UInt8>) -> UInt64 { octets.reduce(0) { $0 << 8 | UInt64($1) } }

    // MARK: What stands around

    private static let prefixes = ["irk:", "irk=", "key=", "hex:", "<data>", "<", "\"", "'"].map { Array($0.utf8) }
    private static let suffixes = ["</data>", ">", "\"", "'", ";"].map { Array($0.utf8) }

    private static func unwrapped(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = trimmed(text)
        // Several may stand around each other, such as `Key="…"`.
        while let prefix = prefixes.first(where: { rest.prefix($0.count).map(lowercased) == $0 }) {
            rest = trimmed(rest.dropFirst(prefix.count))
        }
        while let suffix = suffixes.first(where: { rest.suffix($0.count).map(lowercased) == $0 }) {
            rest = trimmed(rest.dropLast(suffix.count))
        }
        return rest
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0d ~= byte }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = text.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return rest
    }

    // MARK: The key

    private enum Digits {
        case octets([UInt8])
        /// Another number of digits.
        case digits(Int)
        case other
    }

    private static func isSeparator(_ byte: UInt8) -> Bool { isBlank(byte) || ":-,\\".utf8.contains(byte) }

    private static func hexadecimal(_ text: ArraySlice<UInt8>) -> Digits {
        var digits: [UInt8] = []
        for part in text.split(whereSeparator: isSeparator) {
            let isPrefixed = part.starts(with: "0x".utf8) || part.starts(with: "0X".utf8)
            for byte in isPrefixed ? part.dropFirst(2) : part {
                guard let digit = hexadecimalValue(of: byte) else { return .other }
                digits.append(digit)
            }
        }
        guard digits.count == 32 else { return .digits(digits.count) }
        return .octets((0..<16).map { digits[2 * $0] << 4 | digits[2 * $0 + 1] })
    }

    /// 22 digits of either alphabet, with `==` or nothing behind them.
    private static func base64(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let dense = text.filter { !isBlank($0) }
        guard dense.count == 22 || dense.count == 24, let octets = Base64.bytes(dense), octets.count == 16 else {
            return nil
        }
        return octets
    }
}
