import Base

/// A disk failure that lasts, and when the store tries again.
struct Trouble {
    let since: MonotonicInstant
    /// Until the try after the next.
    var delay: Duration
    var nextTry: MonotonicInstant = .zero
    var attempts = 0
    /// The error that was reported last.
    var reported: StoreError?
    /// Reading fails as well.
    var isReading = false

    init(since: MonotonicInstant, delay: Duration) {
        self.since = since
        self.delay = delay
    }
}

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
