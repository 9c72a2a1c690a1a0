import Base

/// The work of the store's thread that waits for the disk. It is cleared when it is on the disk.
struct StoreWork {
    var commit: PendingCommit?
    /// Rows that the broker has, with the bytes of their payloads.
    var acknowledged = HandedOut()
    var acknowledgedSince: MonotonicInstant?
    var refused: [(id: Int64, reason: String)] = []
    var readmitted: Set<String> = []
    var checkpoint: PresenceRecord?
    var clock: WallClock?
    var pruneBefore: Int64?

    /// The keys that the rows of the commit got at the first attempt.
    ///
    /// A transaction whose last fsync failed is rolled back, but its frames are complete in the log: if the file is
    /// opened again before they are overwritten, they are valid. So a later attempt deletes rows with these keys or
    /// higher ones, and they are not delivered before that.
    var firstTry: FirstKeys?

    struct FirstKeys {
        let outbox: Int64
        var history: Int64
        var location: Int64
    }

    /// Whether there is work that needs a transaction now.
    var isUrgent: Bool {
        commit != nil || !refused.isEmpty || !readmitted.isEmpty || clock != nil || pruneBefore != nil
    }

    var isEmpty: Bool { !isUrgent && acknowledged.isEmpty && checkpoint == nil }
}
