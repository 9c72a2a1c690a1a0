import CSQLite

/// Statements of one connection that were used and will be again: to prepare one costs as much as to run it.
///
/// Belongs to the thread of its connection. What lies here was reset: it holds no lock and no value.
final class StatementCache {
    /// The service runs some twenty different ones; each takes a few kilobytes.
    private static let most = 32
    /// What is run once (a schema, a setting of the connection) is not worth keeping. Some PRAGMAs act when they are
    /// prepared and do nothing when they are run again.
    private static let repeated = ["SELECT", "INSERT", "DELETE", "UPDATE", "BEGIN", "COMMIT"]

    /// No dictionary: the texts are long to hash, and mostly differ in length.
    private var idle: [(sql: String, handle: OpaquePointer)] = []
    private var isClosed = false

    func take(_ sql: String) -> OpaquePointer? {
        let length = sql.utf8.count
        guard let place = idle.firstIndex(where: { $0.sql.utf8.count == length && $0.sql == sql }) else { return nil }
        idle.swapAt(place, idle.count - 1)
        return idle.removeLast().handle
    }

    /// Whether it is worth keeping for `put`.
    static func keeps(_ sql: String) -> Bool { repeated.contains(where: sql.hasPrefix) }

    /// Takes over a statement that is no longer in use.
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
