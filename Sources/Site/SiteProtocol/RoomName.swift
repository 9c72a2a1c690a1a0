/// A room as it is published: a permanent id, which is a topic level, and the name that people gave it.
package struct RoomName: Hashable, Sendable {
    package var id: String
    package var name: String

    package init(id: String, name: String) { (self.id, self.name) = (id, name) }
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
