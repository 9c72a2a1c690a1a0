/// How JSON text is written.
package enum JSONDialect: Sendable {
    /// RFC 8259, for text from the broker.
    case json
    /// JSON5, for text that a person writes, with comments, trailing commas and bare member names.
    case json5
}

/// The limits of a text. Text from the broker is not trusted.
package struct JSONLimits: Sendable {
    package var bytes = 8 << 20
    /// How deep arrays and objects are nested.
    package var nesting = 64
    /// Values of every kind, including arrays and objects. 10,000 regions with ten members each are half of it.
    package var values = 200_000

    package init() {}
}

/// Why a text was not read as JSON.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        case tooLong(bytes: Int, limit: Int)
        case tooDeep(limit: Int)
        case tooManyValues(limit: Int)
        case notUTF8
        /// What was found, or is missing, in words.
        case syntax(String)
    }

    package let reason: Reason
    /// Bytes from the start to the error; nil if the error is about the whole text.
    package let offset: Int?
    /// From 1.
    package let line: Int?
    /// In bytes, from 1.
    package let column: Int?

    init(_ reason: Reason, at offset: Int? = nil, in bytes: [UInt8] = []) {
        self.reason = reason
        self.offset = offset
        guard let offset else {
            line = nil
            column = nil
            return
        }
        let before = bytes.prefix(offset)
        line = before.count { $0 == UInt8(ascii: "\n") } + 1
        column = offset - (before.lastIndex(of: UInt8(ascii: "\n")) ?? -1)
    }

    package var description: String {
        let words =
            switch reason {
            case .tooLong(let bytes, let limit): "\(bytes) bytes are too many; at most \(limit) are read"
            case .tooDeep(let limit): "arrays and objects are nested too deep; at most \(limit) levels are read"
            case .tooManyValues(let limit): "too many values; at most \(limit) are read"
            case .notUTF8: "this is not UTF-8 text"
            case .syntax(let words): words
            }
        guard let line, let column else { return words }
        return "line \(line), column \(column): \(words)"
    }
}
