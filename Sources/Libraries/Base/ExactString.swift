import Glibc

/// A text that equals only a text of the same bytes.
///
/// Swift's `String` equals any text that looks the same: "é" as one code point (NFC) equals "e" with a combining accent
/// (NFD), and the Kelvin sign equals "K". MQTT, SQLite and OwnTracks compare bytes. A key that is compared in two ways
/// would be found in one place and not in the other. So identifiers (`rid`, topics, passwords) have this type, or are
/// declared with `@ExactString` if they are stored properties.
@propertyWrapper
public struct ExactString: Hashable, Comparable, Sendable {
    /// The text.
    public var wrappedValue: String

    /// The text of a property declared with `@ExactString`.
    public init(wrappedValue: String) { self.wrappedValue = wrappedValue }

    /// A text to be compared by its bytes.
    public init(_ text: String) { wrappedValue = text }

    package var text: String { wrappedValue }

    /// Whether both have the same bytes of UTF-8.
    public static func == (lhs: ExactString, rhs: ExactString) -> Bool {
        lhs.wrappedValue.hasSameBytes(as: rhs.wrappedValue)
    }

    /// Hashes the bytes of UTF-8.
    public func hash(into hasher: inout Hasher) {
        var text = wrappedValue
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // 0xFF does not occur in UTF-8, so it separates texts that are hashed one after the other.
        hasher.combine(0xff as UInt8)
    }

    /// The order of the bytes of UTF-8, which for valid text is that of the code points.
    public static func < (lhs: ExactString, rhs: ExactString) -> Bool {
        let (left, right) = (lhs.wrappedValue.utf8, rhs.wrappedValue.utf8)
        let order = left.withContiguousStorageIfAvailable { left in
            right.withContiguousStorageIfAvailable { right in
                guard let first = left.baseAddress, let second = right.baseAddress else { return 0 as Int32 }
                return memcmp(first, second, min(left.count, right.count))
            }
        }
        guard let order = order ?? nil else { return left.lexicographicallyPrecedes(right) }
        return order < 0 || order == 0 && left.count < right.count
    }
}

extension ExactString: ExpressibleByStringLiteral {
    /// The text of a literal.
    public init(stringLiteral value: String) { self.init(value) }
}

extension ExactString: CustomStringConvertible {
    /// The text.
    public var description: String { wrappedValue }
}

extension String {
    /// Whether two texts have the same bytes of UTF-8. `==` compares their appearance.
    package func hasSameBytes(as other: String) -> Bool {
        let (own, others) = (utf8, other.utf8)
        let count = own.count
        guard count == others.count else { return false }
        let areSame = own.withContiguousStorageIfAvailable { own in
            others.withContiguousStorageIfAvailable { others in
                guard let first = own.baseAddress, let second = others.baseAddress else { return count == 0 }
                return memcmp(first, second, count) == 0
            }
        }
        return (areSame ?? nil) ?? own.elementsEqual(others)
    }

    /// Whether this is the topic `base` or one below it, by its bytes.
    package func isTopic(atOrBelow base: String) -> Bool {
        let rest = utf8.dropFirst(base.utf8.count)
        return utf8.starts(with: base.utf8) && (rest.isEmpty || rest.first == UInt8(ascii: "/"))
    }
}

extension Dictionary where Key == ExactString {
    package subscript(text: String) -> Value? {
        get { self[ExactString(text)] }
        set { self[ExactString(text)] = newValue }
    }

    package subscript(text: String, default value: @autoclosure () -> Value) -> Value {
        get { self[ExactString(text), default: value()] }
        set { self[ExactString(text), default: value()] = newValue }
    }
}

extension Set where Element == ExactString {
    package func contains(_ text: String) -> Bool { contains(ExactString(text)) }

    package mutating func insert(_ text: String) { insert(ExactString(text)) }
}
