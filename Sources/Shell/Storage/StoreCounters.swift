/// The counters of the store, for `status` and metrics.
package struct StoreCounters: Hashable, Sendable {
    /// Write transactions that reached the disk; each costs one fsync of the write-ahead log.
    package var transactions: UInt64 = 0
    /// Commits in these transactions. While the disk is busy, one transaction joins many.
    package var commits: UInt64 = 0
    /// Pages written, the log's included; a page is 4096 bytes.
    package var pagesWritten: UInt64 = 0
    package var failedTransactions: UInt64 = 0
    package var longestTransaction: Duration = .zero
    /// Messages that wait on the disk.
    package var outboxRows = 0
    package var outboxBytes = 0
    /// Of these, held back until the wall clock is known.
    package var unstampedRows = 0
    /// Messages that were delivered to the broker's client and are not acknowledged.
    package var handedOut = 0
    package var refusedRows: UInt64 = 0
    /// Messages that were replaced by a newer value of the same topic.
    package var superseded: UInt64 = 0
    /// Messages dropped because of a limit, on the disk or in memory.
    package var dropped = DropCounts()
    /// Messages and history entries in memory that are not on the disk yet.
    package var pending = 0
    package var pendingBytes = 0

    package init() {}
}
