import Base
import Beacon

/// What waits for the disk in the store's thread. It is forgotten when it is on the disk.
struct StoreWork {
    var commit: PendingCommit?
    /// Rows that the broker has, with the bytes of their payloads.
    var acknowledged = HandedOut()
    var acknowledgedSince: MonotonicInstant?
    var refused: [(id: Int64, reason: String)] = []
    var checkpoint: PresenceRecord?
    var clock: WallClockReading?
    var pruneBefore: Int64?

    /// The keys that the rows of the commit got when it was tried first.
    ///
    /// A transaction whose last fsync failed is rolled back, but its frames stand in the log, whole: when
    /// the file is opened anew before they are overwritten, they count. So a later try takes rows with
    /// these keys or above away, and they are not handed out before.
    var firstTry: FirstKeys?

    struct FirstKeys {
        let outbox: Int64
        var history: Int64
        var location: Int64
    }

    /// Something that is worth a transaction of its own.
    var isUrgent: Bool { commit != nil || !refused.isEmpty || clock != nil || pruneBefore != nil }

    var isEmpty: Bool { !isUrgent && acknowledged.isEmpty && checkpoint == nil }
}
