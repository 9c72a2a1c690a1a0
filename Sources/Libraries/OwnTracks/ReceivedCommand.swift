/// A command as it arrived on `/cmd`, decrypted and decoded.
package struct ReceivedCommand: Sendable {
    /// Index of the tracker whose `/cmd` it came on. A rooms service has one, at 0.
    package var tracker: Int
    package let command: Result<Command, CommandError>
    /// Whether the broker had retained the command.
    package let isRetained: Bool
    /// Whether the command was encrypted with the tracker's key.
    package let wasEncrypted: Bool
    /// Finds a retained command that was applied before; nil if the command cannot be retained.
    package let digest: CommandDigest?
    /// The envelope of an encrypted command; nil: it came plain.
    package let envelope: CommandEnvelope?

    package init(
        tracker: Int, command: Result<Command, CommandError>, isRetained: Bool, wasEncrypted: Bool,
        digest: CommandDigest?, envelope: CommandEnvelope? = nil
    ) {
        self.digest = digest
        self.envelope = envelope
        self.tracker = tracker
        self.command = command
        self.isRetained = isRetained
        self.wasEncrypted = wasEncrypted
    }
}
