/// Whether a body is markup, from its first bytes.
struct MarkupDetector {
    /// nil: so far there were only blanks.
    private var first: UInt8?

    var isMarkup: Bool { first == UInt8(ascii: "<") }
    var isBlank: Bool { first == nil }

    mutating func read(_ bytes: some Sequence<UInt8>) {
        if first == nil { first = bytes.first { !Self.isSkipped($0) } }
    }

    /// Blanks, and the bytes of byte order marks and other blanks of UTF-8 and UTF-16. No JSON begins with one of the latter.
    private static func isSkipped(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x00, 0x09...0x0d, 0x20, 0xef, 0xbb, 0xbf, 0xfe, 0xff, 0xc2, 0x85, 0xa0, 0xe2, 0x80, 0x8b, 0xa8, 0xa9: true
        default: false
        }
    }
}
