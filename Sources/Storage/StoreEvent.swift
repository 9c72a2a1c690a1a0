package import Base
import Beacon
package import Regions

/// What the store tells the daemon.
package enum StoreEvent: Sendable {
    /// What was found; the first event, once.
    case opened(StoreSnapshot)
    /// The state directory cannot be used; it is tried again.
    case unavailable(StoreFailure)
    /// A transaction is not on the disk. With `willRetry` it is kept and tried again. Said once for a transaction,
    /// however many commits it joins.
    case failed(DatabaseError, willRetry: Bool)
    /// Writing fails since `StoreFailure.since`; said once per trouble, and again when the reason changes.
    case troubled(StoreFailure)
    /// Writing goes again, after it had failed for so long.
    case recovered(after: Duration)
    /// The file was damaged or taken away while it was open, and another one is in use that may lack
    /// anything: commit all regions, values and the presence state again.
    case stateLost
    /// The values of these keys are on the disk.
    case kept(keys: Set<String>)
    /// Hand these to the broker, in this order.
    case deliver([OutboxRow])
    /// The command line edited regions. Apply them, and commit the outcome with `editsTaken`; until
    /// then, the same edits come again after a restart, and only then.
    case regionEdits([RegionEdit])
    case notice(StoreNotice)
    /// The thread has ended. `unsaved`: commits that could not be written.
    case stopped(unsaved: Int)
}

/// What the file held when it was opened.
package struct StoreSnapshot: Sendable {
    /// Regions by tracker, in their order.
    package var regions: [ExactString: [Region]] = [:]
    package var presence: PresenceRecord?
    package var values: [ExactString: [UInt8]] = [:]
    /// Edits by the command line that are not in `regions` yet.
    package var edits: [RegionEdit] = []
    /// Messages that wait.
    package var outboxCount = 0
    /// Whether this is the first time, or nothing could be saved from a damaged file.
    package var isNew: Bool

    package init(isNew: Bool = false) {
        self.isNew = isNew
    }
}

/// Why the store cannot write.
package struct StoreFailure: Error, Hashable, Sendable {
    package let error: StoreError
    package let since: MonotonicInstant
    package let nextTry: MonotonicInstant

    package init(error: StoreError, since: MonotonicInstant, nextTry: MonotonicInstant) {
        self.error = error
        self.since = since
        self.nextTry = nextTry
    }
}

/// A line for the log.
package struct StoreNotice: Hashable, Sendable {
    package let priority: LogPriority
    package let text: String

    package init(_ priority: LogPriority, _ text: String) {
        self.priority = priority
        self.text = text
    }
}

/// A change that the command line asks for.
package struct RegionEdit: Hashable, Sendable {
    package let id: Int64
    /// The base topic of the tracker.
    package let tracker: String
    package let change: RegionChange

    package init(id: Int64, tracker: String, change: RegionChange) {
        self.id = id
        self.tracker = tracker
        self.change = change
    }
}
