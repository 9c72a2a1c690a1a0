/// Text from outside, made harmless for a terminal. Names come from the broker, from beacons and from files of others.
/// An escape sequence in a name can change the terminal's title or the text already shown. A direction mark or an
/// invisible character can make one name look like another.
///
/// This is the only place that decides which characters these are. The log and the commands use it.
package enum PrintableText {
    /// Replaces each character that a terminal does not show as itself by U+FFFD.
    ///
    /// - Parameter keepsLines: Whether line feeds and tabs stay, as in a whole output; not in a name.
    package static func shown(_ text: String, keepsLines: Bool = false) -> String {
        replacing(text, keepsLines) { _ in "\u{FFFD}" }
    }

    /// Writes harmful characters as `\x1b` or `\u202e`, so that nothing is lost. Line feeds and tabs stay.
    package static func escaped(_ text: String) -> String {
        replacing(text, true) { scalar in
            scalar.value < 0x100
                ? "\\x" + hexadecimal(UInt64(scalar.value), digits: 2)
                : "\\u" + hexadecimal(UInt64(scalar.value), digits: 4)
        }
    }

    /// Writes harmful characters of a JSON text as `\u202e`, which a parser reads as the same value. In JSON they occur
    /// only in strings. Line feeds and tabs stay.
    package static func escaped(json text: String) -> String {
        replacing(text, true) { scalar in
            String(scalar).utf16.map { "\\u" + hexadecimal(UInt64($0), digits: 4) }.joined()
        }
    }

    /// Replaces control characters by blanks, and other harmful characters by U+FFFD: one line stays one line.
    package static func line(_ text: String) -> String {
        replacing(text, false) { $0.properties.generalCategory == .control ? " " : "\u{FFFD}" }
    }

    /// Whether the bytes are ASCII of which nothing is to be replaced. Nearly all texts are.
    package static func isPlain(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.allSatisfy { 0x20..<0x7f ~= $0 || $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\t") }
    }

    private static func replacing(
        _ text: String, _ keepsLines: Bool, by replacement: (Unicode.Scalar) -> String
    ) -> String {
        guard !text.utf8.allSatisfy({ 0x20..<0x7f ~= $0 }) else { return text }
        var result = ""
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            defer { previous = scalar }
            let isKept = keepsLines && (scalar == "\n" || scalar == "\t")
            if isKept || !isHarmful(scalar, after: previous) {
                result.unicodeScalars.append(scalar)
            } else {
                result += replacement(scalar)
            }
        }
        return result
    }

    /// Controls of C0 and C1, DEL, direction marks, line and paragraph separators, invisible characters, and characters
    /// that this version of Unicode does not define.
    private static func isHarmful(_ scalar: Unicode.Scalar, after previous: Unicode.Scalar?) -> Bool {
        if scalar.value < 0x7f { return scalar.value < 0x20 }
        switch scalar.properties.generalCategory {
        case .control, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator: return true
        case .format: return !(scalar == "\u{200D}" && isEmoji(previous))
        default: return isInvisible(scalar)
        }
    }

    /// Letters and marks that are drawn as nothing, such as the fillers of Hangul. Variation selectors are invisible,
    /// too, but they choose the form of an emoji, and do not make one name look like another.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0: true
        default: false
        }
    }

    /// Whether a joiner after this character belongs to an emoji of several people or things. Elsewhere it is
    /// invisible.
    private static func isEmoji(_ scalar: Unicode.Scalar?) -> Bool {
        guard let scalar, scalar.value > 0xff else { return false }
        return scalar.value == 0xFE0F || scalar.properties.isEmoji
    }
}
