/// Why a command was refused.
package struct CommandRefusal: Hashable, Sendable {
    /// The names are labels in `/metrics` and members in `/status.json`.
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The message is not a command, lacks an argument, or cannot be decrypted.
        case malformed
        /// The service does not have this command.
        case unsupported
        /// `cmd` is false.
        case disabled
        case unencrypted
        /// `remoteConfiguration` is false.
        case forbidden
        case retained
        /// The encrypted message was obeyed before: anyone can repeat it.
        case repeated
        /// Too many commands waited, or came in a short time.
        case overload
        /// The request cannot be carried out now: no position is known, the monitoring mode withholds it, or a rooms service has
        /// no room for more regions.
        case unavailable
        /// The settings of a `setConfiguration` were not valid, or were taken back.
        case configuration
    }

    package let reason: Reason
    /// For the log.
    package let text: String

    init(_ reason: Reason, _ text: String) { (self.reason, self.text) = (reason, text) }

    /// The line of the log; the same for all services.
    package func logLine(on topic: String) -> String { Self.logLine(of: text, on: topic) }

    package static func logLine(of text: String, on topic: String) -> String { "command on \(topic) refused: \(text)" }
}
