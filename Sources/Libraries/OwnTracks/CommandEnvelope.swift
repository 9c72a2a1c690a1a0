/// What tells an encrypted command from every other: the nonce of its envelope, which nobody without the key can change.
package struct CommandEnvelope: Hashable, Sendable {
    /// Of the nonce, and of the index of the command in the envelope, which may hold several.
    package let nonce: CommandDigest
    /// The member `tst` of the command, epoch seconds; nil: it has none.
    package let time: Int64?

    /// - Parameters:
    ///   - nonce: The nonce's bytes.
    ///   - index: The index of the command in the envelope.
    package init(nonce: [UInt8], index: Int = 0, time: Int64?) {
        self.nonce = CommandDigest(of: nonce).command(at: index)
        self.time = time
    }
}
