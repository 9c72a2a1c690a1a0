import Base

/// The keys of phones and watches by their names, as their file has them: a line for each, the key before the name. Empty
/// lines, and those that begin with `#`, are passed over.
package struct PhoneKeys: Hashable, Sendable {
    package struct Phone: Hashable, Sendable {
        package let name: String
        package let key: IdentityKey
    }

    /// Bytes of UTF-8 that a name may have.
    package static let longestName = 200

    package private(set) var phones: [Phone] = []

    package init() {}

    /// Reads the file.
    ///
    /// - Throws: The first mistake, with its line. The text of the line is not shown, because it may have a key in it.
    package init(parsing bytes: [UInt8]) throws(PhoneKeysError) {
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let text = line.drop { $0 == UInt8(ascii: " ") }
            guard let first = text.first, first != UInt8(ascii: "#"), first != UInt8(ascii: "\r") else { continue }
            let key = text.prefix { $0 != UInt8(ascii: " ") }
            let name = String(
                decoding: text.dropFirst(key.count + 1).filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
            do throws(PhoneKeysError) {
                guard let key = IdentityKey(String(decoding: key, as: UTF8.self)) else { throw .invalidKey }
                try set(key, of: name)
            } catch {
                throw .inLine(index + 1, "\(error)")
            }
        }
    }

    /// Adds a phone, or gives one of this name another key, as after a reset of the phone.
    package mutating func set(_ key: IdentityKey, of name: String) throws(PhoneKeysError) {
        guard !name.isEmpty, name.utf8.count <= Self.longestName, !name.contains(":"), PrintableText.line(name) == name,
            name.first != " ", name.last != " "
        else { throw .invalidName }
        if let other = phones.first(where: { $0.key.canonical == key.canonical && $0.name != name }) {
            throw .sameKey(as: other.name)
        }
        let phone = Phone(name: name, key: key)
        if let index = phones.firstIndex(where: { $0.name.hasSameBytes(as: name) }) {
            phones[index] = phone
        } else {
            guard phones.count < IdentityResolver.mostKeys else { throw .tooMany }
            phones.append(phone)
        }
    }

    /// - Returns: Whether there was a phone of this name.
    package mutating func remove(_ name: String) -> Bool {
        guard let index = phones.firstIndex(where: { $0.name.hasSameBytes(as: name) }) else { return false }
        phones.remove(at: index)
        return true
    }

    /// The content of the file.
    package var bytes: [UInt8] { Array(phones.map { "\($0.key.digits) \($0.name)\n" }.joined().utf8) }
}

/// Why a phone cannot be kept.
package enum PhoneKeysError: Error, Hashable, Sendable, CustomStringConvertible {
    case invalidKey
    case invalidName
    case sameKey(as: String)
    case tooMany
    case inLine(Int, String)

    package var description: String {
        switch self {
        case .invalidKey: "this is no key; it has 32 hexadecimal digits, or 24 characters of base64"
        case .invalidName: "a name has 1 to \(PhoneKeys.longestName) bytes, no ':', and no blank at either end"
        case .sameKey(let name): "'\(name)' has this key"
        case .tooMany: "there are \(IdentityResolver.mostKeys) phones; no more are possible"
        case .inLine(let line, let reason): "line \(line): \(reason)"
        }
    }
}
