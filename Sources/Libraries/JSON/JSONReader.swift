/// Reads JSON and JSON5 in one pass over the bytes, with a line and a column for each error.
///
/// The decoder of FoundationEssentials is not used. With JSON5 it ends the process on the number `1e+` (Swift 6.3.1).
/// It gives no position on Linux and has no limits. It reads a value of unknown kind only by trying one kind after the
/// other. Without FoundationEssentials a static binary is 7.5 MB smaller.
struct JSONReader {
    let bytes: [UInt8]
    let isJSON5: Bool
    var offset = 0
    private let limits: JSONLimits
    private var values = 0
    /// nil: they are not looked for, as in messages.
    private var repetitions: Repetitions?

    private init(_ bytes: [UInt8], dialect: JSONDialect, limits: JSONLimits) {
        self.bytes = bytes
        isJSON5 = dialect == .json5
        self.limits = limits
    }

    /// - Throws: The first error.
    static func read(_ bytes: [UInt8], dialect: JSONDialect, limits: JSONLimits) throws(JSONError) -> JSONValue {
        var reader = JSONReader(bytes, dialect: dialect, limits: limits)
        return try reader.read()
    }

    /// - Throws: The first error.
    static func repeatedMembers(
        in bytes: [UInt8], dialect: JSONDialect, limits: JSONLimits
    ) throws(JSONError) -> [RepeatedMember] {
        var reader = JSONReader(bytes, dialect: dialect, limits: limits)
        reader.repetitions = Repetitions()
        _ = try reader.read()
        func line(_ offset: Int) -> Int { bytes.prefix(offset).count { $0 == UInt8(ascii: "\n") } + 1 }
        return (reader.repetitions?.found ?? []).map {
            RepeatedMember(path: $0.path, firstLine: line($0.first), line: line($0.second))
        }
    }

    private mutating func read() throws(JSONError) -> JSONValue {
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            if bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff]) { throw JSONError(.utf16) }
            throw JSONError(.notUTF8, at: error.byteOffsets.lowerBound, in: bytes)
        }
        let value = try value(depth: 0)
        if let byte = try nextSignificant() { throw unexpected(byte, "nothing more") }
        return value
    }

    /// Recursion is bounded by `limits.nesting`.
    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        let byte = try significant(or: "a value")
        values += 1
        guard values <= limits.values else { throw error(.tooManyValues(limit: limits.values)) }
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard depth < limits.nesting else { throw error(.tooDeep(limit: limits.nesting)) }
            offset += 1
            return byte == UInt8(ascii: "{") ? try object(depth: depth + 1) : try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string(byte))
        case UInt8(ascii: "'") where isJSON5: return .string(try string(byte))
        default: return try scalar(byte)
        }
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSONValue {
        var elements: [JSONValue] = []
        if try consume("]", or: "a value or ']'") { return .array(elements) }
        while true {
            repetitions?.enter(element: elements.count)
            elements.append(try value(depth: depth))
            repetitions?.leave()
            if try consume("]", or: "',' or ']'") { return .array(elements) }
            try consumeComma("',' or ']'")
            if isJSON5, try consume("]", or: "a value or ']'") { return .array(elements) }
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSONValue {
        var members: [String: JSONValue] = [:]
        repetitions?.begin()
        defer { repetitions?.end() }
        if try consume("}", or: "the name of a member or '}'") { return .object(members) }
        while true {
            let name = try name()
            repetitions?.enter(name, at: offset)
            guard try consume(":", or: "':' after the name of a member") else {
                throw unexpected(bytes[offset], "':' after the name of a member")
            }
            members[name] = try value(depth: depth)
            repetitions?.leave()
            if try consume("}", or: "',' or '}'") { return .object(members) }
            try consumeComma("',' or '}'")
            if isJSON5, try consume("}", or: "the name of a member or '}'") { return .object(members) }
        }
    }

    private mutating func name() throws(JSONError) -> String {
        let byte = try significant(or: "the name of a member")
        if byte == UInt8(ascii: "\"") || isJSON5 && byte == UInt8(ascii: "'") { return try string(byte) }
        guard isJSON5 else { throw unexpected(byte, "the name of a member in double quotes") }
        let first = scalar(at: offset)
        let word = word(isName: true)
        guard !word.isEmpty, JSONCharacter.beginsName(first) else {
            offset = word.startIndex
            throw unexpected(byte, "the name of a member")
        }
        return String(decoding: word, as: UTF8.self)
    }

    /// A number, `true`, `false` or `null`.
    private mutating func scalar(_ byte: UInt8) throws(JSONError) -> JSONValue {
        let word = word(isName: false)
        for (literal, value) in Self.literals where literal.withUTF8Buffer({ $0.elementsEqual(word) }) { return value }
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."):
            guard let number = JSONNumber.read(word, isJSON5: isJSON5) else {
                offset = word.startIndex
                // The text is not shown, because it may be a password without quotes.
                throw error(.syntax("this is not a number; text needs quotes"))
            }
            return number
        case UInt8(ascii: "I"), UInt8(ascii: "N"):
            if isJSON5, let number = JSONNumber.read(word, isJSON5: true) { return number }
        default: break
        }
        offset = word.startIndex
        guard !word.isEmpty else { throw unexpected(byte, "a value") }
        for (literal, _) in Self.literals where "\(literal)".utf8.elementsEqual(word.map { $0 | 0x20 }) {
            throw error(.syntax("a literal is written in small letters: \(literal)"))
        }
        // As with numbers, the text is not shown.
        throw error(
            .syntax("a word where a value should be; \(isAtStart ? "an object begins with '{'" : "text needs quotes")"))
    }

    /// Whether only blanks and comments stand before this place.
    private var isAtStart: Bool {
        var start = self
        start.offset = 0
        _ = try? start.nextSignificant()
        return start.offset == offset
    }

    private static let literals: [(StaticString, JSONValue)] = [("true", true), ("false", false), ("null", .null)]
}

// MARK: Tokens

extension JSONReader {
    /// Skips white space, and comments if the dialect allows them.
    private mutating func nextSignificant() throws(JSONError) -> UInt8? {
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): offset += 1
            case UInt8(ascii: "/") where isJSON5: try comment()
            case 0x0b where isJSON5, 0x0c where isJSON5: offset += 1
            case 0x80... where isJSON5:
                let scalar = scalar(at: offset)
                guard JSONCharacter.isBlank(scalar) else { return bytes[offset] }
                offset += UTF8.width(scalar)
            case let byte: return byte
            }
        }
        return nil
    }

    private mutating func significant(or expected: String) throws(JSONError) -> UInt8 {
        guard let byte = try nextSignificant() else {
            if bytes.isEmpty { throw JSONError(.syntax("the text is empty")) }
            throw error(.syntax("the text ends where \(expected) should be"))
        }
        return byte
    }

    /// Skips `wanted` if it is next.
    private mutating func consume(_ wanted: Unicode.Scalar, or expected: String) throws(JSONError) -> Bool {
        guard try significant(or: expected) == UInt8(ascii: wanted) else { return false }
        offset += 1
        return true
    }

    private mutating func consumeComma(_ expected: String) throws(JSONError) {
        guard try consume(",", or: expected) else { throw unexpected(bytes[offset], expected) }
    }

    private mutating func comment() throws(JSONError) {
        let start = offset
        switch offset + 1 < bytes.count ? bytes[offset + 1] : 0 {
        case UInt8(ascii: "/"):
            while offset < bytes.count, !isLineEnd(at: offset) { offset += 1 }
        case UInt8(ascii: "*"):
            offset += 2
            while offset + 1 < bytes.count {
                if bytes[offset] == UInt8(ascii: "*"), bytes[offset + 1] == UInt8(ascii: "/") {
                    offset += 2
                    return
                }
                offset += 1
            }
            throw JSONError(.syntax("the comment that begins here has no end"), at: start, in: bytes)
        default: throw unexpected(bytes[offset], "a comment // or /* */")
        }
    }

    /// The bytes up to the next one that cannot be inside a number, a literal or a bare name.
    private mutating func word(isName: Bool) -> ArraySlice<UInt8> {
        let start = offset
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), UInt8(ascii: "$"):
                offset += 1
            case 0x80...:
                let scalar = scalar(at: offset)
                guard JSONCharacter.isInName(scalar) else { return bytes[start..<offset] }
                offset += UTF8.width(scalar)
            case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                if isName { return bytes[start..<offset] }
                offset += 1
            default: return bytes[start..<offset]
            }
        }
        return bytes[start..<offset]
    }

    /// - Parameter byte: The next one, where a character begins.
    func unexpected(_ byte: UInt8, _ expected: String) -> JSONError {
        guard byte >= 0x20, byte != 0x7f else { return error(.syntax("byte \(byte) where \(expected) should be")) }
        let scalar = scalar(at: offset)
        let advice = advice(for: scalar, expected).map { "; \($0)" } ?? ""
        return error(.syntax("\(JSONCharacter.name(scalar)) where \(expected) should be\(advice)"))
    }

    /// What to write in place of a character that cannot stand here; nil if what should be says it.
    private func advice(for scalar: Unicode.Scalar, _ expected: String) -> String? {
        if JSONCharacter.isTypographicQuote(scalar) { return "write the quote \"" }
        let isAfterValue = expected.hasPrefix("','")
        switch scalar {
        case "#": return isJSON5 ? "a comment begins with //" : "JSON has no comments"
        case "=" where expected.hasPrefix("':'"): return "write ':'"
        case ";" where isAfterValue: return "write ','"
        case "," where !isAfterValue: return isJSON5 ? "one comma is enough" : nil
        case "}" where isAfterValue: return "write ']' before it"
        case "}" where expected == "a value": return "write a value before it"
        case "0"..."9" where expected.hasPrefix("the name"): return "a number has a point, not a comma"
        case "]" where isAfterValue: return "write '}' before it"
        case "\"", "'", "{", "[", "-", "0"..."9": return isAfterValue ? "write a comma before it" : nil
        default: return isAfterValue && JSONCharacter.beginsName(scalar) ? "write a comma before it" : nil
        }
    }

    /// The character that begins there. The text has been checked to be UTF-8.
    func scalar(at offset: Int) -> Unicode.Scalar {
        var decoder = UTF8()
        var rest = bytes[offset...].makeIterator()
        guard case .scalarValue(let scalar) = decoder.decode(&rest) else { return "\u{fffd}" }
        return scalar
    }

    /// Whether a line of JSON5 ends there: a line feed, a carriage return, or one of the separators U+2028 and U+2029.
    func isLineEnd(at offset: Int) -> Bool {
        switch bytes[offset] {
        case 0x0a, 0x0d: true
        case 0xe2: ["\u{2028}", "\u{2029}"].contains(scalar(at: offset))
        default: false
        }
    }

    func error(_ reason: JSONError.Reason) -> JSONError {
        JSONError(reason, at: offset, in: bytes)
    }
}

extension UInt8 {
    var isDigit: Bool { UInt8(ascii: "0") <= self && self <= UInt8(ascii: "9") }
}

extension JSONValue {
    /// Reads a text.
    ///
    /// Ignores a byte order mark at the start, and NUL bytes at the end (some encryption tools include the terminator
    /// of a C string). Of two members with the same name the last is used.
    ///
    /// - Throws: The error and its offset. Nothing is read beyond a limit.
    package init(
        parsing bytes: some Collection<UInt8>, dialect: JSONDialect = .json, limits: JSONLimits = JSONLimits()
    ) throws(JSONError) {
        self = try JSONReader.read(try Self.text(of: bytes, limits), dialect: dialect, limits: limits)
    }

    /// Without the byte order mark and the NUL bytes.
    static func text(of bytes: some Collection<UInt8>, _ limits: JSONLimits) throws(JSONError) -> [UInt8] {
        guard bytes.count <= limits.bytes else { throw JSONError(.tooLong(bytes: bytes.count, limit: limits.bytes)) }
        var text = Array(bytes)
        if text.starts(with: [0xef, 0xbb, 0xbf]) { text.removeFirst(3) }
        while text.last == 0 { text.removeLast() }
        return text
    }

    package init(
        parsing text: String, dialect: JSONDialect = .json, limits: JSONLimits = JSONLimits()
    ) throws(JSONError) {
        try self.init(parsing: text.utf8, dialect: dialect, limits: limits)
    }
}
