import Shell

/// A message of a site that cannot be decrypted.
struct ClosedMessage: Hashable {
    let payload: [UInt8]
    let reason: SealError
}
