/// The cached state of the outbox. A transaction changes a copy, which replaces the original after the commit.
struct OutboxCounters {
    var nextID: Int64 = 1
    var rows = 0
    var bytes = 0
    /// The number of `rows` that wait for the wall clock.
    var unstamped = 0
    /// The counts of the current transaction.
    var superseded: UInt64 = 0
    var dropped = DropCounts()
    var refused: UInt64 = 0
}
