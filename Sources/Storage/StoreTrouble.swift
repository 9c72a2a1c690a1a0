import Base
import Beacon

/// Why the store cannot do its work at present, and when it tries again.
struct Trouble {
    let since: MonotonicInstant
    /// Until the try after the next.
    var delay: Duration
    var nextTry: MonotonicInstant = .zero
    var attempts = 0
    /// What the daemon was told last.
    var said: StoreError?
    /// Not even reading goes.
    var isReading = false

    init(since: MonotonicInstant, delay: Duration) {
        self.since = since
        self.delay = delay
    }
}

/// When to look for edits by the command line, and which are known.
struct EditWatch {
    var nextCheck: MonotonicInstant = .zero
    /// nil: not known, so look into the table.
    var dataVersion: Int64?
    /// The last that the daemon was told of.
    var lastSeen: Int64 = 0
    /// The daemon wants to be told of all of them.
    var areWantedAgain = false
}
