import Base

/// The text of a key, as converters, other systems and their files have it.
///
/// - What may stand around it: a name with `:` or `=` (`irk:`, `Key=` of bluetoothd's file, `"IRK"=hex:` of Windows' registry), `0x`,
///   quotes, brackets, angle brackets (macOS), `<data>…</data>` (a property list). A byte order mark and blanks of any kind do not matter.
/// - The key: 32 hexadecimal digits, with blanks, `:`, `-`, `,` or the `\` of a continued line between them, each pair with or without
///   `0x` or `\x`; 16 numbers of one or two hexadecimal digits, or of decimal ones if one of them has three; or 22 digits of base64, with
///   or without its `==`.
package enum KeyText {
    package enum Reading: Hashable, Sendable {
        case key(IdentityKey)
        /// What the text has instead of a key. It shows nothing of the text.
        case fault(String)
    }

    /// Longer texts are not read.
    private static let longest = 256

    package static func read(_ text: some Sequence<UInt8>) -> Reading {
        // Two bytes for each character of a file of Windows, and the mark before them.
        let bytes = plain(Array(text.prefix(2 * longest + 3)))
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

    private static let prefixes = [
        "irk:", "irk=", "key=", "hex:", "<data>", "<", "\"", "'", "b'", "b\"", "{", "[", "(",
    ]
    .map { Array($0.utf8) }
    private static let suffixes = ["</data>", ">", "\"", "'", ";", "}", "]", ")", ","].map { Array($0.utf8) }

    /// The text in ASCII as far as it has a place in a key: files of Windows are UTF-16 or begin with a mark, and programs for text write
    /// other blanks and quotes than were typed.
    package static func plain(_ bytes: [UInt8]) -> [UInt8] {
        let text: String
        switch (bytes.first, bytes.dropFirst().first) {
        case (0xff, 0xfe): text = utf16(bytes) { UInt16($0) | UInt16($1) << 8 }
        case (0xfe, 0xff): text = utf16(bytes) { UInt16($0) << 8 | UInt16($1) }
        default:
            guard bytes.contains(where: { $0 >= 0x80 }) else { return bytes }
            text = String(decoding: bytes, as: UTF8.self)
        }
        return text.unicodeScalars.flatMap { scalar -> [UInt8] in
            guard !scalar.isASCII else { return [UInt8(truncatingIfNeeded: scalar.value)] }
            return switch scalar.properties.generalCategory {
            case .spaceSeparator, .lineSeparator, .paragraphSeparator, .format: [0x20]
            case .initialPunctuation, .finalPunctuation: [UInt8(ascii: "\"")]
            default: Array(String(scalar).utf8)
            }
        }
    }

    private static func utf16(_ bytes: [UInt8], _ unit: (UInt8, UInt8) -> UInt16) -> String {
        let units = stride(from: 2, to: bytes.count - 1, by: 2).map { unit(bytes[$0], bytes[$0 + 1]) }
        return String(decoding: units, as: UTF16.self)
    }

    private static func unwrapped(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = trimmed(text)
        // Several may stand around each other, such as `Key="…"`.
        while true {
            if let prefix = prefixes.first(where: { rest.prefix($0.count).map(lowercased) == $0 }) {
                rest = trimmed(rest.dropFirst(prefix.count))
            } else if let named = withoutName(rest) {
                rest = trimmed(named)
            } else {
                break
            }
        }
        while let suffix = suffixes.first(where: { rest.suffix($0.count).map(lowercased) == $0 }) {
            rest = trimmed(rest.dropLast(suffix.count))
        }
        return rest
    }

    /// What follows a name and its `:` or `=`; nil if there is none. A name has a letter that is no hexadecimal digit.
    private static func withoutName(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let end = text.firstIndex(where: { ":=".utf8.contains($0) }) else { return nil }
        let (name, rest) = (text[..<end], text[(end + 1)...])
        // Base64 ends with two of the same sign.
        guard rest.first != UInt8(ascii: "="), rest.contains(where: { !isBlank($0) }) else { return nil }
        let isName = name.allSatisfy { isLetter($0) || isDigit($0) || " _-.()\"'".utf8.contains($0) }
        return isName && name.contains(where: { isLetter($0) && hexadecimalValue(of: $0) == nil }) ? rest : nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= lowercased(byte)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

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
        let parts = text.split(whereSeparator: isSeparator).map { part in
            let lowered = part.prefix(2).map(lowercased)
            return lowered.first == UInt8(ascii: "x")
                ? part.dropFirst() : lowered == Array("0x".utf8) ? part.dropFirst(2) : part
        }
        if parts.count == 16, parts.contains(where: { $0.count != 2 }), let octets = octets(parts) {
            return .octets(octets)
        }
        var digits: [UInt8] = []
        for byte in parts.joined() {
            guard let digit = hexadecimalValue(of: byte) else { return .other }
            digits.append(digit)
        }
        guard digits.count == 32 else { return .digits(digits.count) }
        return .octets((0..<16).map { digits[2 * $0] << 4 | digits[2 * $0 + 1] })
    }

    /// Numbers without their leading zeros: of one or two hexadecimal digits, or decimal if one of them has three; nil if they are
    /// neither.
    private static func octets(_ parts: [ArraySlice<UInt8>]) -> [UInt8]? {
        let radix = parts.contains { $0.count == 3 } ? 10 : 16
        let octets = parts.compactMap { part in
            part.allSatisfy { hexadecimalValue(of: $0) != nil } && part.count <= 3
                ? UInt8(String(decoding: part, as: UTF8.self), radix: radix) : nil
        }
        return octets.count == parts.count ? octets : nil
    }

    /// 22 digits of either alphabet, with `==` or nothing behind them.
    private static func base64(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let dense = text.filter { !isBlank($0) }
        guard dense.count == 22 || dense.count == 24, let octets = Base64.bytes(dense), octets.count == 16 else {
            return nil
        }
        return octets
    }

    // MARK: A file with more than a key

    /// Longest file that is searched, bytes.
    private static let longestFile = 1 << 20

    /// The keys that a longer text names, such as an export of Windows' registry or of a Mac's keychain: what follows `IRK`.
    package static func named(in file: [UInt8]) -> [IdentityKey] {
        guard file.count <= longestFile else { return [] }
        let text = plain(file)
        let lowered = text.map(lowercased)
        var keys: [IdentityKey] = []
        var start = 0
        while let found = lowered[start...].firstIndex(ofPart: "irk".utf8) {
            start = found + 3
            // Of a name, such as `"Remote IRK"`, not of a word.
            guard found == 0 || !isLetter(text[found - 1]), case .key(let key) = read(value(in: text[start...])),
                !keys.contains(key)
            else { continue }
            keys.append(key)
        }
        return keys
    }

    /// What belongs to a name that ends here: the data of a property list, or the rest of the line and the lines that continue it.
    private static func value(in text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let rest = text.prefix(longest)
        if rest.starts(with: "</key>".utf8), let begin = rest.firstIndex(ofPart: "<data>".utf8),
            let end = rest[begin...].firstIndex(ofPart: "</data>".utf8)
        {
            return rest[begin..<end]
        }
        let content = rest.drop { !isLineEnd($0) && (isBlank($0) || "\"':=".utf8.contains($0)) }
        var end = content.startIndex
        while end < content.endIndex, !isLineEnd(content[end]) || isContinued(content[..<end]) { end += 1 }
        let line = content[..<end]
        // Another member of an object may follow.
        return line[..<(line.firstIndex { "\"'".utf8.contains($0) } ?? line.endIndex)]
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0a || byte == 0x0d }

    /// Whether the line goes on behind its end.
    private static func isContinued(_ line: ArraySlice<UInt8>) -> Bool {
        line.last { !isBlank($0) } == UInt8(ascii: "\\")
    }
}
