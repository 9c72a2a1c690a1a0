package import Base
package import Regions

/// An event of the store for the service.
package enum StoreEvent: Sendable {
    /// The stored state. The first event, and only once.
    case opened(StoreSnapshot)
    /// The state directory cannot be used; the store tries again.
    case unavailable(StoreFailure)
    /// A transaction could not be written. With `willRetry` it is kept and tried again. Reported once for a
    /// transaction, even if it joins several commits.
    case failed(DatabaseError, willRetry: Bool)
    /// Writing fails since `StoreFailure.since`. Reported once for each failure, and again when the reason changes.
    case troubled(StoreFailure)
    /// Writing works again, after it had failed for so long.
    case recovered(after: Duration)
    /// The file was damaged or removed while it was open, and another file is in use that may be incomplete: the
    /// service must commit all regions, values and the presence state again.
    case stateLost
    /// The values of these keys are on the disk.
    case kept(keys: Set<String>)
    /// Hand these to the broker, in this order. Rows of an earlier generation than that of the latest request
    /// `redeliver` are delivered again, and must be ignored.
    case deliver([OutboxRow], generation: Int)
    /// The command line edited regions. The service must merge the edits and commit the result with `editsTaken`. Until
    /// then, the same edits come again after a restart, and only then.
    case regionEdits([RegionEdit])
    case notice(Notice)
    /// The thread has ended. `unsaved`: commits that could not be written.
    case stopped(unsaved: Int)
}
