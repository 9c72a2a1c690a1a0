/// A value as it is to be kept.
enum KeptValue: Sendable {
    /// nil forgets it.
    case bytes([UInt8]?)
    case made(@Sendable () -> [UInt8])

    /// The bytes, made now if they are not there.
    var bytes: [UInt8]? {
        switch self {
        case .bytes(let bytes): bytes
        case .made(let make): make()
        }
    }
}
