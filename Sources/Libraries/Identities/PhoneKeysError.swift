/// Why a phone cannot be kept.
package enum PhoneKeysError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the text has instead of a key.
    case invalidKey(has: String)
    case invalidName
    case sameKey(as: String)
    case tooMany
    case tooLong(bytes: Int)
    case tooManyLines
    case inLine(Int, String)

    package var description: String {
        switch self {
        case .invalidKey(let fault):
            "this is no key: \(fault); a key has 32 hexadecimal digits, or 24 characters of base64"
        case .invalidName: "a name has 1 to \(PhoneKeys.longestName) bytes, no ':', and no blank at either end"
        case .sameKey(let name): "'\(name)' has this key"
        case .tooMany: "there are \(IdentityResolver.mostKeys) phones; no more are possible"
        case .tooLong(let bytes): "it has \(bytes) bytes; a list of phones has at most \(PhoneKeys.mostBytes)"
        case .tooManyLines: "it has more than \(PhoneKeys.mostLines) phones and removals"
        case .inLine(let line, let reason): "line \(line): \(reason)"
        }
    }
}

extension PhoneKeysError {
    /// The key in a text.
    ///
    /// - Throws: What the text has instead.
    package static func key(_ text: some StringProtocol) throws(PhoneKeysError) -> IdentityKey {
        switch KeyText.read(text.utf8) {
        case .key(let key): return key
        case .fault(let fault): throw .invalidKey(has: fault)
        }
    }
}
