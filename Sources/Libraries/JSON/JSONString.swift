import Base

extension JSONReader {
    /// Reads a string whose opening quote is next. The text has been checked to be UTF-8.
    mutating func string(_ quote: UInt8) throws(JSONError) -> String {
        let opening = offset
        offset += 1
        var start = offset
        var text: [UInt8] = []
        while offset < bytes.count {
            switch bytes[offset] {
            case quote:
                let rest = bytes[start..<offset]
                offset += 1
                guard !text.isEmpty else { return String(decoding: rest, as: UTF8.self) }
                text += rest
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                text += bytes[start..<offset]
                try escape(into: &text)
                start = offset
            case ..<0x20 where !isJSON5 || bytes[offset] != UInt8(ascii: "\t"):
                throw error(.syntax("a line break or control character in a string; write \\n or \\u00XX"))
            default: offset += 1
            }
        }
        throw JSONError(.syntax("the string that begins here has no end"), at: opening, in: bytes)
    }

    /// Reads one escape sequence, from its backslash on.
    private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
        let start = offset
        guard offset + 1 < bytes.count else {
            throw JSONError(.syntax("the text ends inside a string"), at: start, in: bytes)
        }
        let byte = bytes[offset + 1]
        offset += 2
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0c)
        case UInt8(ascii: "n"): text.append(0x0a)
        case UInt8(ascii: "r"): text.append(0x0d)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text += try scalar(from: start).utf8
        case _ where isJSON5: try json5Escape(byte, from: start, into: &text)
        default:
            throw JSONError(
                .syntax("this is not an escape sequence of JSON; a backslash is written \\\\"), at: start, in: bytes)
        }
    }

    private mutating func json5Escape(
        _ byte: UInt8, from start: Int, into text: inout [UInt8]
    ) throws(JSONError) {
        switch byte {
        case UInt8(ascii: "'"): text.append(byte)
        case UInt8(ascii: "v"): text.append(0x0b)
        case UInt8(ascii: "0"): text.append(0)
        case UInt8(ascii: "x"): text += try character(hexadecimal(digits: 2, from: start), from: start).utf8
        case 0x0a: break  // The string continues on the next line.
        case 0x0d: if offset < bytes.count, bytes[offset] == 0x0a { offset += 1 }
        case 0xe2 where isLineEnd(at: offset - 1): offset += 2
        default:
            throw JSONError(
                .syntax("this is not an escape sequence of JSON5; a backslash is written \\\\"), at: start, in: bytes)
        }
    }

    /// Reads what follows `\u`, including the second half of a surrogate pair.
    private mutating func scalar(from start: Int) throws(JSONError) -> String {
        let first = try hexadecimal(digits: 4, from: start)
        guard (0xd800..<0xdc00).contains(first) else { return try character(first, from: start) }
        guard offset + 1 < bytes.count, bytes[offset] == UInt8(ascii: "\\"),
            bytes[offset + 1] == UInt8(ascii: "u")
        else { return try character(first, from: start) }
        offset += 2
        let second = try hexadecimal(digits: 4, from: start)
        guard (0xdc00..<0xe000).contains(second) else { return try character(first, from: start) }
        return try character(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00), from: start)
    }

    private func character(_ value: UInt32, from start: Int) throws(JSONError) -> String {
        guard let scalar = Unicode.Scalar(value) else {
            throw JSONError(.syntax("half of a surrogate pair is not a character"), at: start, in: bytes)
        }
        return String(Character(scalar))
    }

    private mutating func hexadecimal(digits: Int, from start: Int) throws(JSONError) -> UInt32 {
        let end = offset + digits
        guard end <= bytes.count, let value = JSONNumber.hexadecimal(bytes[offset..<end]) else {
            throw JSONError(.syntax("\(digits) hexadecimal digits should follow"), at: start, in: bytes)
        }
        offset = end
        return UInt32(truncatingIfNeeded: value)
    }
}
