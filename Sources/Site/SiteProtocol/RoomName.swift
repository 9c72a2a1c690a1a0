import Base

/// A room as it is published: a permanent id, which is a topic level, and the name that people gave it.
///
/// The name is trimmed, has 1 to `FeedDecoder.mostNameBytes` bytes and no control characters. Two names may be two forms of one: see `key`.
package struct RoomName: Hashable, Sendable {
    package let id: String
    package let name: String

    /// A room by a name that a person, a card, a node or the configuration gives it.
    ///
    /// - Returns: nil if the text is no name: it is blank, too long, or has control characters.
    package init?(_ text: String) {
        let name = Self.trimmed(text)
        guard FeedDecoder.isName(name) else { return nil }
        (id, self.name) = (Self.id(of: name), name)
    }

    /// A room as it was published or stored: its id may be that of a form of the name that came earlier.
    ///
    /// - Returns: nil if the id is no topic level, or the text is no name.
    package init?(id: String, name text: String) {
        let name = Self.trimmed(text)
        guard TopicIdentifier.isIdentifier(id), FeedDecoder.isName(name) else { return nil }
        (self.id, self.name) = (id, name)
    }

    /// Without blanks of any kind, and signs that cannot be seen, around it.
    private static func trimmed(_ text: String) -> String {
        func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isWhitespace || isInvisible(scalar) }
        var scalars = text.unicodeScalars[...]
        scalars = scalars.drop(while: isBlank)
        while let last = scalars.last, isBlank(last) { scalars.removeLast() }
        return String(scalars)
    }

    /// The zero-width space, marks of the direction of writing, and others that programs for text leave behind.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\u{ad}", "\u{200b}"..."\u{200f}", "\u{202a}"..."\u{202e}", "\u{2060}"..."\u{2069}", "\u{feff}": true
        default: false
        }
    }

    /// What all forms of one name have in common. Forms differ in the case of A to Z, in what separates words (blanks and the signs of
    /// ASCII), in signs that cannot be seen, or in how Unicode encodes the same characters: Swift's comparison of texts ignores that.
    ///
    /// ESPresense writes *Office Room* as `office_room`, and *Jane's room* as `jane_s_room`.
    package var key: String {
        var key = ""
        for character in name {
            if character.unicodeScalars.allSatisfy(Self.isInvisible) { continue }
            if Self.isSeparator(character) {
                if !key.isEmpty, key.last != " " { key.append(" ") }
            } else if let value = character.asciiValue, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(value) {
                key.unicodeScalars.append(Unicode.Scalar(value + 32))
            } else {
                key.append(character)
            }
        }
        if key.last == " " { key.removeLast() }
        return key.isEmpty ? name : key
    }

    private static func isSeparator(_ character: Character) -> Bool {
        guard let value = character.asciiValue else { return character.isWhitespace }
        return switch value {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            false
        default: true
        }
    }

    /// Whether both are forms of one name, or have one id.
    package func isSame(as other: RoomName) -> Bool { id == other.id || key == other.key }
}

extension RoomName {
    /// Makes the id of a name: lower case, `[a-z0-9_-]` only, cut after the character that reaches 40 bytes (at most 46).
    ///
    /// Any other character becomes its code point in hexadecimal, so that two names in another script get two ids.
    package static func id(of name: String) -> String {
        var id = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "a"..."z", "0"..."9", "_", "-": id.unicodeScalars.append(scalar)
            case "A"..."Z": id.unicodeScalars.append(Unicode.Scalar(UInt8(scalar.value + 32)))
            case " ", ".", "/", ",": if !id.hasSuffix("-") { id.append("-") }
            default: id += "u" + String(scalar.value, radix: 16)
            }
            if id.utf8.count >= 40 { break }
        }
        while id.hasSuffix("-") { id.removeLast() }
        while id.hasPrefix("-") { id.removeFirst() }
        return id.isEmpty ? "room" : id
    }
}
