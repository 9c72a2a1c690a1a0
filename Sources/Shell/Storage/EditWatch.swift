import Base

/// When to look for edits by the command line, and which are known.
struct EditWatch {
    var nextCheck: MonotonicInstant = .zero
    /// nil: not known, so the table has to be read.
    var dataVersion: Int64?
    /// The last edit that was reported.
    var lastSeen: Int64 = 0
    /// The service has asked for all edits again.
    var areWantedAgain = false
}
