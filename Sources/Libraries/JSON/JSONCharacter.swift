/// What a character outside ASCII is in JSON5 (its section 5 and 8, and ECMAScript 5.1, section 7).
enum JSONCharacter {
    /// Every space of Unicode, its two line separators, and the byte order mark.
    static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .spaceSeparator, .lineSeparator, .paragraphSeparator: true
        default: scalar == "\u{feff}"
        }
    }

    /// Whether a bare name of a member can contain it: a letter, a digit, a mark on a letter or a joiner. Quotes and other
    /// signs are none of these.
    static func isInName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .decimalNumber, .connectorPunctuation: true
        default: beginsName(scalar) || scalar == "\u{200c}" || scalar == "\u{200d}"
        }
    }

    static func beginsName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber: true
        default: scalar == "$" || scalar == "_"
        }
    }

    /// Whether a text program may have written it where `"` or `'` was typed.
    static func isTypographicQuote(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "`", "\u{b4}", "\u{201a}", "\u{201e}", "\u{2032}", "\u{2033}", "\u{301d}"..."\u{301f}", "\u{ff02}",
            "\u{ff07}":
            true
        default:
            scalar.properties.generalCategory == .initialPunctuation
                || scalar.properties.generalCategory == .finalPunctuation
        }
    }

    /// How an error names it: as it is if it can be seen.
    static func name(_ scalar: Unicode.Scalar) -> String {
        let number = String(scalar.value, radix: 16, uppercase: true)
        let code = "U+" + String(repeating: "0", count: max(0, 4 - number.count)) + number
        return switch scalar.properties.generalCategory {
        case .spaceSeparator, .lineSeparator, .paragraphSeparator: "the blank \(code)"
        case .control, .format, .surrogate, .privateUse, .unassigned, .nonspacingMark, .enclosingMark: code
        default: "'\(scalar)'"
        }
    }
}
