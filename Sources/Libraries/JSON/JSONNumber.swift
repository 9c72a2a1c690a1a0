import Base

/// The numbers of JSON (RFC 8259, 6) and JSON5.
enum JSONNumber {
    /// - Returns: nil if the word is not a number, or is too large for a Double.
    static func read(_ word: ArraySlice<UInt8>, isJSON5: Bool) -> JSONValue? {
        let isNegative = word.first == UInt8(ascii: "-")
        var digits = word
        if isNegative || isJSON5 && word.first == UInt8(ascii: "+") { digits = digits.dropFirst() }
        if isJSON5 {
            if digits.elementsEqual("Infinity".utf8) { return .number(isNegative ? -.infinity : .infinity) }
            if digits.elementsEqual("NaN".utf8) { return .number(.nan) }
            if digits.starts(with: "0x".utf8) || digits.starts(with: "0X".utf8) {
                guard let value = hexadecimal(digits.dropFirst(2)), let value = Int64(exactly: value) else {
                    return nil
                }
                return .integer(isNegative ? -value : value)
            }
        }
        guard let isWhole = checkDecimal(digits, isJSON5: isJSON5) else { return nil }
        let text = String(decoding: word, as: UTF8.self)
        if isWhole, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { return nil }
        return .plain(value)
    }

    /// - Returns: Whether the number has neither fraction nor exponent; nil if this is not a number.
    private static func checkDecimal(_ digits: ArraySlice<UInt8>, isJSON5: Bool) -> Bool? {
        let whole = digits.prefix { $0.isDigit }
        guard whole.count < 2 || whole.first != UInt8(ascii: "0") else { return nil }
        var rest = digits.dropFirst(whole.count)
        var hasFraction = false
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix { $0.isDigit }
            guard isJSON5 ? whole.count + fraction.count > 0 : !whole.isEmpty && !fraction.isEmpty else { return nil }
            rest = rest.dropFirst(1 + fraction.count)
            hasFraction = true
        } else if whole.isEmpty {
            return nil
        }
        guard let mark = rest.first else { return !hasFraction }
        guard mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") else { return nil }
        rest = rest.dropFirst()
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        return !rest.isEmpty && rest.allSatisfy(\.isDigit) ? false : nil
    }

    /// - Returns: nil unless there are 1 to 16 digits and nothing else.
    static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt64? {
        guard (1...16).contains(digits.count) else { return nil }
        var value: UInt64 = 0
        for byte in digits {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt64(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return value
    }
}
