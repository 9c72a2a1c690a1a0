internal import Beacon

/// What waits for the disk in the store's thread. It is forgotten when it is on the disk.
struct StoreWork {
    var commit: PendingCommit?
    var acknowledged: Set<Int64> = []
    var acknowledgedSince: MonotonicInstant?
    var refused: [(id: Int64, reason: String)] = []
    var checkpoint: PresenceRecord?
    var clock: WallClockReading?
    var pruneBefore: Int64?

    /// Something that is worth a transaction of its own.
    var isUrgent: Bool { commit != nil || !refused.isEmpty || clock != nil || pruneBefore != nil }

    var isEmpty: Bool { !isUrgent && acknowledged.isEmpty && checkpoint == nil }
}
