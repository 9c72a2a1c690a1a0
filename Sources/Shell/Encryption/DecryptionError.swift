/// Why a message could not be decrypted. The reason helps the owner. It goes to the log and is never sent back.
package enum DecryptionError: Error, Hashable, Sendable, CustomStringConvertible {
    case notBase64
    case tooShort(bytes: Int)
    /// Another key, or a changed message.
    case notAuthentic
    /// The message is no envelope of OwnTracks.
    case notEncrypted

    package var description: String {
        switch self {
        case .notBase64: "its data is not base64"
        case .tooShort(let bytes): "its data has \(bytes) bytes; an encrypted message has at least 40"
        case .notAuthentic: "it was made with another key, or changed on the way"
        case .notEncrypted: "it is not encrypted"
        }
    }
}
