package import Base

/// The state in numbers.
package struct StoreSummary: Sendable {
    package var schemaVersion: Int64 = 0
    /// Messages in the outbox.
    package var waiting: [Publication.Kind: Int] = [:]
    /// Bytes of payload in the outbox.
    package var waitingBytes = 0
    /// The number of messages in the outbox whose times are not known yet.
    package var waitingForClock = 0
    /// The latest messages that were set aside, at most 20, the newest first.
    package var refused: [RefusedRow] = []
    /// All messages that were set aside and are kept.
    package var refusedRows = 0
    /// Those of them that were set aside recently.
    package var recentlyRefused = 0
    /// In the history.
    package var transitions = 0
    /// Edits by the command line that the service has not merged.
    package var edits = 0

    package init() {}
}
