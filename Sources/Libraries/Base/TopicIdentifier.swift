/// Levels of topics that every broker and consumer accepts: `[a-zA-Z0-9_-]` only, as Home Assistant's discovery
/// requires.
package enum TopicIdentifier {
    /// Whether a text is such a level: 1 to 64 of these characters.
    package static func isIdentifier(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// Any text as an identifier, always the same for the same text, and different for different texts: each byte other
    /// than a letter, a digit and `-` is written as `_` and its two hexadecimal digits.
    ///
    /// Beyond 80 bytes a hash of the text replaces the end, so that the topic stays within its limit.
    package static func identifier(of text: String) -> String {
        var identifier = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                identifier.unicodeScalars.append(UnicodeScalar(byte))
            default:
                identifier += "_" + hexadecimal(UInt64(byte), digits: 2)
            }
        }
        guard identifier.utf8.count > 80 else { return identifier }
        return identifier.prefix(60) + "__" + hexadecimal(hash(text), digits: 16)
    }

    /// The text of which `identifier(of:)` makes this identifier; nil if a hash replaced its end, or if there is no such text.
    package static func text(of identifier: String) -> String? {
        let parts = identifier.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
        var bytes = parts.first.map(Array.init) ?? []
        for part in parts.dropFirst() {
            guard let byte = UInt8(String(decoding: part.prefix(2), as: UTF8.self), radix: 16) else { return nil }
            bytes.append(byte)
            bytes += part.dropFirst(2)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        return Self.identifier(of: text) == identifier ? text : nil
    }

    /// FNV-1a with 64 bits: the same on every machine and in every run, unlike Swift's own hash.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
