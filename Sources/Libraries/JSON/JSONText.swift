extension JSONValue {
    /// One line of JSON: members sorted by name, only necessary escapes. The same value gives the same text on every
    /// run.
    package var text: String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// The UTF-8 of `text`, ready to be published.
    package var bytes: [UInt8] {
        var output: [UInt8] = []
        write(to: &output)
        return output
    }

    /// The UTF-8 of an array whose elements are made one after the other: as one value, a long array takes several times the
    /// memory of its text.
    package static func bytes(ofArray elements: some Sequence<JSONValue>) -> [UInt8] {
        var output: [UInt8] = []
        write(elements, to: &output)
        return output
    }

    /// The UTF-8 of an object.
    ///
    /// - Parameter members: The JSON of each member.
    package static func bytes(ofObject members: [String: [UInt8]]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(members.reduce(2) { $0 + $1.value.count + $1.key.utf8.count + 4 })
        write(members, to: &output) { value, output in output += value }
        return output
    }

    private func write(to output: inout [UInt8]) {
        switch self {
        case .null: output += "null".utf8
        case .bool(let value): output += (value ? "true" : "false").utf8
        case .integer(let value): output += String(value).utf8
        case .number(let value): Self.write(value, to: &output)
        case .string(let text): Self.write(text, to: &output)
        case .array(let elements): Self.write(elements, to: &output)
        case .object(let members): Self.write(members, to: &output) { value, output in value.write(to: &output) }
        }
    }

    private static func write(_ elements: some Sequence<JSONValue>, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            element.write(to: &output)
        }
        output.append(UInt8(ascii: "]"))
    }

    /// - Parameter writeValue: Writes the JSON of a member.
    private static func write<Value>(
        _ members: [String: Value], to output: inout [UInt8], _ writeValue: (Value, inout [UInt8]) -> Void
    ) {
        output.append(UInt8(ascii: "{"))
        for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            write(member.key, to: &output)
            output.append(UInt8(ascii: ":"))
            writeValue(member.value, &output)
        }
        output.append(UInt8(ascii: "}"))
    }

    /// The shortest digits that read back as the same number. JSON has no infinity and no NaN; they become null.
    private static func write(_ value: Double, to output: inout [UInt8]) {
        if let whole = Int64(exactly: value) {
            output += String(whole).utf8
        } else {
            output += (value.isFinite ? "\(value)" : "null").utf8
        }
    }

    /// RFC 8259, 7: the quote, the backslash and control characters must be escaped.
    private static func write(_ text: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        // Usually no character needs an escape, and the whole text is copied.
        let isPlain = text.utf8.withContiguousStorageIfAvailable { bytes in
            guard bytes.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) else {
                return false
            }
            output.append(contentsOf: bytes)
            return true
        }
        if isPlain != true { writeEscaping(text, to: &output) }
        output.append(UInt8(ascii: "\""))
    }

    private static func writeEscaping(_ text: String, to output: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): output += "\\\"".utf8
            case UInt8(ascii: "\\"): output += "\\\\".utf8
            case 0x08: output += "\\b".utf8
            case 0x09: output += "\\t".utf8
            case 0x0a: output += "\\n".utf8
            case 0x0c: output += "\\f".utf8
            case 0x0d: output += "\\r".utf8
            case ..<0x20: output += "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
            default: output.append(byte)
            }
        }
    }
}
