/// Any JSON value.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number without a fraction that 64 bits hold; `10.0` and `1e3` are of this kind too.
    case integer(Int64)
    /// Any other number. From JSON5 it may be infinite or NaN.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])
}

extension JSONValue {
    /// The member of an object; nil if there is no such member, or if this is not an object.
    package subscript(member: String) -> JSONValue? {
        object?[member]
    }

    package var object: [String: JSONValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    package var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// A finite number. Numbers in quotes are read, too, because several tools write them so.
    package var asNumber: Double? {
        switch self {
        case .integer(let value): return Double(value)
        case .number(let value): return value.isFinite ? value : nil
        case .string(let text):
            // Double also reads "inf" and "0x1p3", which are not numbers in JSON.
            guard text.utf8.allSatisfy({ Self.numberCharacters.contains($0) }), let value = Double(text) else {
                return nil
            }
            return value.isFinite ? value : nil
        default: return nil
        }
    }

    /// A number without a fraction. Numbers in quotes are read, too.
    package var asInteger: Int64? {
        if case .integer(let value) = self { return value }
        return asNumber.flatMap { Int64(exactly: $0) }
    }

    /// True or false, also from 1 and 0 and from strings of these: phones export settings in all these ways.
    package var asBool: Bool? {
        switch self {
        case .bool(let value): value
        case .integer(0), .string("0"), .string("false"): false
        case .integer(1), .string("1"), .string("true"): true
        default: nil
        }
    }

    private static let numberCharacters = Set("0123456789+-.eE".utf8)

    /// The kind of the value, with its article, for a message to a person.
    package var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// The value in at most 40 characters or so, for a message to a person.
    package var shortened: String {
        switch self {
        case .string(let text): "'\(JSON.shortened(text))'"
        case .array(let elements): "an array of \(elements.count)"
        case .object(let members): "an object of \(members.count)"
        case .null, .bool, .integer, .number: text
        }
    }
}

extension JSONValue {
    /// Degrees with six decimals (11 cm), as every OwnTracks device writes them.
    package static func degrees(_ value: Double) -> JSONValue {
        plain(roundedDegrees(value))
    }

    /// A number as its text would be read: an integer if it has no fraction.
    package static func plain(_ value: Double) -> JSONValue {
        Int64(exactly: value).map(JSONValue.integer) ?? .number(value)
    }

    /// The nearest whole number, limited to the range of 64 bits.
    package static func whole(_ value: Double) -> JSONValue {
        guard value.isFinite else { return .integer(0) }
        return .integer(Int64(exactly: value.rounded()) ?? (value < 0 ? .min : .max))
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}

/// Degrees rounded to six decimals.
package func roundedDegrees(_ value: Double) -> Double {
    (value * 1_000_000).rounded() / 1_000_000
}

/// At most 40 characters of a text of any length, on one line.
package func shortened(_ text: String) -> String {
    let head = text.unicodeScalars.prefix(41)
    var line = String.UnicodeScalarView()
    for scalar in head.prefix(40) { line.append(scalar.value < 0x20 || scalar.value == 0x7f ? " " : scalar) }
    return head.count > 40 ? String(line) + "…" : String(line)
}
