/// Identifies a command by the message that brought it: FNV-1a with 64 bits over the bytes as they arrived, encrypted
/// or not, and the index of the command in the message. The digest finds repetitions. It is no protection: whoever may
/// write to `/cmd` needs no collision.
package struct CommandDigest: Hashable, Sendable {
    package let value: UInt64

    package init(of payload: some Sequence<UInt8>) {
        value = payload.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    init(value: UInt64) { self.value = value }

    /// The digest of the command at this index in a message with several commands.
    package func command(at index: Int) -> CommandDigest {
        CommandDigest(value: (value ^ UInt64(truncatingIfNeeded: index)) &* 0x100_0000_01b3)
    }
}
