internal import FoundationEssentials

extension JSONValue {
    /// Reads a text.
    ///
    /// A byte order mark at the start and NUL bytes at the end (some encrypting tools count the
    /// terminator of a C string in) are ignored. Of two members with the same name the last counts.
    ///
    /// - Throws: What is wrong with it and where. Nothing is read beyond a limit.
    package init(
        parsing bytes: some Collection<UInt8>, dialect: JSONDialect = .json, limits: JSONLimits = JSONLimits()
    ) throws(JSONError) {
        guard bytes.count <= limits.bytes else { throw JSONError(.tooLong(bytes: bytes.count, limit: limits.bytes)) }
        var text = Array(bytes)
        if text.starts(with: [0xef, 0xbb, 0xbf]) { text.removeFirst(3) }
        while text.last == 0 { text.removeLast() }
        self = try JSONReader.read(text, dialect: dialect, limits: limits)
    }

    package init(
        parsing text: String, dialect: JSONDialect = .json, limits: JSONLimits = JSONLimits()
    ) throws(JSONError) {
        try self.init(parsing: text.utf8, dialect: dialect, limits: limits)
    }

    /// One line of JSON: members sorted by the bytes of their names, nothing escaped that need not be.
    /// The same value gives the same text on every run.
    package var text: String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// The UTF-8 of `text`, ready to be published.
    package var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(self))
        } catch {
            // Only a number that is not finite can be refused, and those are written as null below.
            return Array("null".utf8)
        }
    }
}

extension JSONValue: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): value.isFinite ? try container.encode(value) : try container.encodeNil()
        case .string(let text): try container.encode(text)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }
}
