/// Walks over a text once before the decoder sees it: hostile text costs no more than this walk, and
/// what is wrong has a line and a column. (The decoder of FoundationEssentials on Linux names no
/// position, and builds its map of a text of any depth and size first.)
///
/// It checks limits and grammar down to the kind of each token; numbers and escapes in detail are the
/// decoder's.
struct JSONScanner {
    private enum Expectation {
        case value, valueOrClose, name, nameOrClose, colon, commaOrClose, end
    }

    private let bytes: [UInt8]
    private let isJSON5: Bool
    private let limits: JSONLimits
    private var position = 0
    private var open: [UInt8] = []
    private var values = 0

    private init(_ bytes: [UInt8], dialect: JSONDialect, limits: JSONLimits) {
        self.bytes = bytes
        isJSON5 = dialect == .json5
        self.limits = limits
    }

    /// - Throws: The first thing that is wrong.
    static func check(_ bytes: [UInt8], dialect: JSONDialect, limits: JSONLimits) throws(JSONError) {
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw JSONError(.notUTF8, at: error.byteOffsets.lowerBound, in: bytes)
        }
        var scanner = JSONScanner(bytes, dialect: dialect, limits: limits)
        try scanner.run()
    }

    private mutating func run() throws(JSONError) {
        var expected = Expectation.value
        while let byte = try nextSignificant() {
            switch expected {
            case .value: expected = try value(byte)
            case .valueOrClose: expected = byte == UInt8(ascii: "]") ? try close(byte) : try value(byte)
            case .name: expected = try name(byte)
            case .nameOrClose: expected = byte == UInt8(ascii: "}") ? try close(byte) : try name(byte)
            case .colon:
                guard byte == UInt8(ascii: ":") else { throw unexpected(byte, "':' after the name of a member") }
                position += 1
                expected = .value
            case .commaOrClose: expected = try commaOrClose(byte)
            case .end: throw unexpected(byte, "nothing more")
            }
        }
        guard case .end = expected else { throw endOfText() }
    }

    /// Skips white space, and comments where they may be.
    private mutating func nextSignificant() throws(JSONError) -> UInt8? {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): position += 1
            case UInt8(ascii: "/") where isJSON5: try comment()
            case let byte: return byte
            }
        }
        return nil
    }

    private mutating func comment() throws(JSONError) {
        let start = position
        switch position + 1 < bytes.count ? bytes[position + 1] : 0 {
        case UInt8(ascii: "/"):
            while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
        case UInt8(ascii: "*"):
            position += 2
            while position + 1 < bytes.count {
                if bytes[position] == UInt8(ascii: "*"), bytes[position + 1] == UInt8(ascii: "/") {
                    position += 2
                    return
                }
                position += 1
            }
            throw JSONError(.syntax("the comment that begins here has no end"), at: start, in: bytes)
        default: throw unexpected(bytes[position], "a comment // or /* */")
        }
    }

    private mutating func value(_ byte: UInt8) throws(JSONError) -> Expectation {
        values += 1
        guard values <= limits.values else {
            throw JSONError(.tooManyValues(limit: limits.values), at: position, in: bytes)
        }
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard open.count < limits.nesting else {
                throw JSONError(.tooDeep(limit: limits.nesting), at: position, in: bytes)
            }
            open.append(byte)
            position += 1
            return byte == UInt8(ascii: "{") ? .nameOrClose : .valueOrClose
        case UInt8(ascii: "\""): try string(byte)
        case UInt8(ascii: "'") where isJSON5: try string(byte)
        default: try scalar(byte)
        }
        return afterValue
    }

    private var afterValue: Expectation { open.isEmpty ? .end : .commaOrClose }

    private mutating func close(_ byte: UInt8) throws(JSONError) -> Expectation {
        let opener = byte == UInt8(ascii: "}") ? UInt8(ascii: "{") : UInt8(ascii: "[")
        guard open.last == opener else {
            throw unexpected(byte, open.last == UInt8(ascii: "{") ? "',' or '}'" : "',' or ']'")
        }
        open.removeLast()
        position += 1
        return afterValue
    }

    private mutating func commaOrClose(_ byte: UInt8) throws(JSONError) -> Expectation {
        let isObject = open.last == UInt8(ascii: "{")
        switch byte {
        case UInt8(ascii: "}"), UInt8(ascii: "]"): return try close(byte)
        case UInt8(ascii: ","):
            position += 1
            return isObject ? (isJSON5 ? .nameOrClose : .name) : (isJSON5 ? .valueOrClose : .value)
        default: throw unexpected(byte, isObject ? "',' or '}'" : "',' or ']'")
        }
    }

    private mutating func name(_ byte: UInt8) throws(JSONError) -> Expectation {
        switch byte {
        case UInt8(ascii: "\""): try string(byte)
        case UInt8(ascii: "'") where isJSON5: try string(byte)
        default:
            guard isJSON5 else { throw unexpected(byte, "the name of a member in double quotes") }
            let start = position
            skipWord(isName: true)
            guard position > start else { throw unexpected(byte, "the name of a member") }
        }
        return .colon
    }

    private mutating func string(_ quote: UInt8) throws(JSONError) {
        let start = position
        position += 1
        while position < bytes.count {
            switch bytes[position] {
            case quote:
                position += 1
                return
            case UInt8(ascii: "\\"): position += 2
            case ..<0x20 where !isJSON5 || bytes[position] != UInt8(ascii: "\t"):
                let words = "a line break or control character in a string; write \\n or \\u00XX"
                throw JSONError(.syntax(words), at: position, in: bytes)
            default: position += 1
            }
        }
        throw JSONError(.syntax("the string that begins here has no end"), at: start, in: bytes)
    }

    /// A number, `true`, `false` or `null`.
    private mutating func scalar(_ byte: UInt8) throws(JSONError) {
        let start = position
        skipWord()
        let word = bytes[start..<position]
        let isNumber: Bool =
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
            case UInt8(ascii: "+"), UInt8(ascii: "."): isJSON5
            default: false
            }
        if isNumber {
            let digits = word.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }.prefix(2)
            guard digits.count == 2, digits.first == UInt8(ascii: "0"),
                let second = digits.last, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(second)
            else { return }
            throw JSONError(.syntax("a number may not begin with a needless 0"), at: start, in: bytes)
        }
        let words = isJSON5 ? ["true", "false", "null", "Infinity", "NaN"] : ["true", "false", "null"]
        guard words.contains(where: { $0.utf8.elementsEqual(word) }) else {
            position = start
            throw unexpected(byte, "a value")
        }
    }

    /// Goes to the next byte that cannot be inside a number, a literal or a bare name.
    private mutating func skipWord(isName: Bool = false) {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                if isName { return }
                position += 1
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
                position += 1
            default: return
            }
        }
    }

    private func unexpected(_ byte: UInt8, _ expected: String) -> JSONError {
        let found = (0x21...0x7e).contains(byte) ? "'\(UnicodeScalar(byte))'" : "byte \(byte)"
        return JSONError(.syntax("\(found) where \(expected) should be"), at: position, in: bytes)
    }

    private func endOfText() -> JSONError {
        guard !bytes.isEmpty else { return JSONError(.syntax("the text is empty")) }
        let missing =
            switch open.last {
            case UInt8(ascii: "{"): "; a '}' is missing"
            case UInt8(ascii: "["): "; a ']' is missing"
            default: ""
            }
        return JSONError(.syntax("the text ends too early\(missing)"), at: bytes.count, in: bytes)
    }
}
