import Base

/// The requests that the store's thread handles at one time.
package struct StoreMail: Sendable {
    var commit: PendingCommit?
    /// Commits that stay in the mailbox, because the thread still has an unwritten one.
    var commitsLeft = 0
    var acknowledged: [Int64] = []
    var refused: [(id: Int64, reason: String)] = []
    /// The reasons for which nothing is set aside any more.
    var readmitted: Set<String> = []
    /// It came before the commit, if there is one.
    var checkpoint: PresenceRecord?
    var clock: WallClock?
    var pruneBefore: Int64?
    var window: Int?
    /// The generation of deliveries that begins.
    var redeliver: Int?
    var checkEdits = false
    var rereadEdits = false
    var stop = false
    /// Requests dropped since the last time because the disk could not be written.
    var dropped = DropCounts()
    /// The sizes of the messages that exceeded the limit. The other changes of their commits are kept.
    var oversized: [Int] = []
}
