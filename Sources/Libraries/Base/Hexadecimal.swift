/// The value of one ASCII hexadecimal digit, or nil.
package func hexadecimalValue(of ascii: UInt8) -> UInt8? {
    switch ascii {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): ascii - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): ascii - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): ascii - UInt8(ascii: "A") + 10
    default: nil
    }
}

/// Replaces each `%41` by its byte (RFC 3986, section 2.1); nil if a `%` has no two hexadecimal digits after it.
package func percentDecoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = Array(text)[...]
    while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%") else {
            bytes.append(byte)
            continue
        }
        guard let high = rest.popFirst().flatMap(hexadecimalValue), let low = rest.popFirst().flatMap(hexadecimalValue)
        else { return nil }
        bytes.append(high << 4 | low)
    }
    return bytes
}

/// Two upper-case hexadecimal digits.
package func hexadecimal(_ byte: UInt8) -> String {
    String(UnicodeScalar(hexadecimalDigit(byte >> 4))) + String(UnicodeScalar(hexadecimalDigit(byte)))
}

/// The number in hexadecimal, filled with zeros on the left to at least this many digits.
package func hexadecimal(_ value: UInt64, digits: Int, isUppercase: Bool = false) -> String {
    let text = String(value, radix: 16, uppercase: isUppercase)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
}

/// The ASCII digit of the low four bits.
package func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    let digit = value & 15
    return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") - 10 + digit
}
