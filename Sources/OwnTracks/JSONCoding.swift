internal import FoundationEssentials

extension JSONValue {
    /// Reads a text.
    ///
    /// A byte order mark at the start and NUL bytes at the end (some encrypting tools count the
    /// terminator of a C string in) are ignored. Of two members with the same name the first counts.
    ///
    /// - Throws: What is wrong with it and where. Text beyond the limits is refused before anything
    ///   but one walk over its bytes has been spent on it.
    package init(
        parsing bytes: some Collection<UInt8>, dialect: JSONDialect = .json, limits: JSONLimits = JSONLimits()
    ) throws(JSONError) {
        guard bytes.count <= limits.bytes else { throw JSONError(.tooLong(bytes: bytes.count, limit: limits.bytes)) }
        var text = Array(bytes)
        if text.starts(with: [0xef, 0xbb, 0xbf]) { text.removeFirst(3) }
        while text.last == 0 { text.removeLast() }
        try JSONScanner.check(text, dialect: dialect, limits: limits)
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = dialect == .json5
        do {
            self = try decoder.decode(JSONValue.self, from: Data(text))
        } catch DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty {
            let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
            throw JSONError(.syntax("the number or string at '\(OwnTracks.shortened(path))' is malformed"))
        } catch {
            throw JSONError(.syntax("a number or string is malformed"))
        }
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

extension JSONValue: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // A refused kind costs a microsecond, so the commonest come first. Int64 before Double: both
        // read a whole number.
        if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if container.decodeNil() {
            self = .null
        } else if (try? decoder.unkeyedContainer()) != nil {
            self = .array(try container.decode([JSONValue].self))
        } else if (try? decoder.container(keyedBy: AnyKey.self)) != nil {
            self = .object(try container.decode([String: JSONValue].self))
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no JSON value")
        }
    }

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

/// Asks only whether something is an object.
private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
