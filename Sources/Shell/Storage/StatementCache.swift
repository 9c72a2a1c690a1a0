import CSQLite

/// Prepared statements of one connection for later use: preparing a statement costs as much as running it.
///
/// The cache belongs to the thread of its connection. Cached statements are reset: they have no lock and no value.
final class StatementCache {
    /// The service runs some twenty different ones; each takes a few kilobytes.
    private static let most = 32
    /// Statements that run once (a schema, a setting of the connection) are not cached. Some PRAGMAs act when they are
    /// prepared and do nothing when they run again.
    private static let repeated = ["SELECT", "INSERT", "DELETE", "UPDATE", "BEGIN", "COMMIT"]

    /// No dictionary: the texts are long to hash, and mostly differ in length.
    private var idle: [(sql: String, handle: OpaquePointer)] = []
    private var isClosed = false

    func remove(_ sql: String) -> OpaquePointer? {
        let length = sql.utf8.count
        guard let index = idle.firstIndex(where: { $0.sql.utf8.count == length && $0.sql == sql }) else { return nil }
        idle.swapAt(index, idle.count - 1)
        return idle.removeLast().handle
    }

    /// Whether it is worth keeping for `put`.
    static func keeps(_ sql: String) -> Bool { repeated.contains(where: sql.hasPrefix) }

    /// Caches a statement that is no longer in use.
    func put(_ handle: OpaquePointer, sql: String) {
        guard !isClosed else {
            sqlite3_finalize(handle)
            return
        }
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        if idle.count >= Self.most { finalizeAll() }
        idle.append((sql, handle))
    }

    /// The connection is about to be closed.
    func close() {
        isClosed = true
        finalizeAll()
    }

    private func finalizeAll() {
        for (_, handle) in idle { sqlite3_finalize(handle) }
        idle = []
    }
}
