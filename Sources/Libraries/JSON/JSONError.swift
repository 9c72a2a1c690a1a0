/// Why a text was not read as JSON.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        case tooLong(bytes: Int, limit: Int)
        case tooDeep(limit: Int)
        case tooManyValues(limit: Int)
        case notUTF8
        /// As some programs of Windows save it.
        case utf16
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
            case .utf16: "this is UTF-16 text; save it as UTF-8"
            case .syntax(let words): words
            }
        guard let line, let column else { return words }
        return "line \(line), column \(column): \(words)"
    }
}
