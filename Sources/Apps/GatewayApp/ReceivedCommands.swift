package import OwnTracks

/// The decoded content of a message on a `/cmd`.
package struct ReceivedCommands: Hashable, Sendable {
    package var topic: String
    /// It was kept by the broker and is not news.
    package var retained: Bool
    package var wasEncrypted: Bool
    /// An encrypted message may hold several.
    package var commands: [Result<Command, CommandError>]
    /// Of the message as it came; nil: it cannot be retained.
    package var digest: CommandDigest?
    /// The envelope of each command of an encrypted message; else empty.
    package var envelopes: [CommandEnvelope] = []
    /// Of an answer over HTTP: what it contains beside commands; nil: nothing.
    package var remark: String?

    package init(
        topic: String, retained: Bool, wasEncrypted: Bool, commands: [Result<Command, CommandError>],
        digest: CommandDigest?
    ) {
        self.digest = digest
        self.topic = topic
        self.retained = retained
        self.wasEncrypted = wasEncrypted
        self.commands = commands
    }
}
