import Base
import Identities

/// Why a region description cannot be used.
public enum RegionDescriptionError: Error, Hashable, Sendable {
    /// Nothing stands before the first colon.
    case emptyName
    /// The name has more bytes than `RegionDescription.longestName`.
    case nameTooLong(bytes: Int)
    /// More than four parts, and how many.
    case tooManyParts(Int)
    /// The second part is not a UUID.
    case invalidUUID(String)
    /// The major or the minor is not a number.
    case invalidNumber(member: String, text: String)
    /// The major or the minor is above 65,535.
    case numberOutOfRange(member: String, text: String)
    /// What follows `mac`, `eddystone` or `altbeacon` cannot be used.
    case invalidIdentity(reason: String)
    /// The description has an identity resolving key, which is a secret and has no place there.
    case secretKey
}

extension RegionDescriptionError: CustomStringConvertible {
    /// The mistake and what to write instead, in one line.
    public var description: String {
        switch self {
        case .emptyName:
            "the name before the first ':' is empty; write name:UUID[:major[:minor]]"
        case .nameTooLong(let bytes):
            "the name has \(bytes) bytes; at most \(RegionDescription.longestName) are allowed"
        case .tooManyParts(let count):
            "\(count) parts between ':'; at most 4 are allowed: name:UUID:major:minor"
        case .invalidUUID(let text):
            "'\(text.shortened)' is not a UUID; write 32 hexadecimal digits, dashed 8-4-4-4-12 or with no dash"
        case .invalidNumber(let member, let text):
            "\(member) '\(text.shortened)' is not a number; write 0 to 65535, or hexadecimal as 0xCAFE"
        case .numberOutOfRange(let member, let text):
            "\(member) '\(text.shortened)' is out of range; write 0 (any) to 65535"
        case .invalidIdentity(let reason): reason
        case .secretKey: IdentityError.key.description
        }
    }
}
