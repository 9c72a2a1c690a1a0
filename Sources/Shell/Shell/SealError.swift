/// Why a message of a site is refused before it is read.
package enum SealError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The site has a key, and the message is not encrypted.
    case plain
    /// The message is encrypted, and there is no key here.
    case noKey
    /// It was encrypted with another key, or is damaged.
    case wrongKey(String)

    package var description: String {
        switch self {
        case .plain: "it is not encrypted, and the site has a key"
        case .noKey: "it is encrypted, and there is no key of the site here (rooms.encryptionKeyFile)"
        case .wrongKey(let reason): reason
        }
    }
}
