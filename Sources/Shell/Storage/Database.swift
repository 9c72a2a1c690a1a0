import CSQLite

/// One SQLite connection, used by one thread; closed when it goes out of scope.
package struct Database: ~Copyable {
    /// The access of a connection.
    package enum Access: Sendable {
        /// Reads and writes; makes the file if there is none.
        case readWrite
        /// Reads; creates no file.
        case readOnly
        /// Reads a file that no process writes, without `-shm` and `-wal` beside it. This is the only way on a
        /// read-only file system where they do not exist.
        case immutable
    }

    private let handle: OpaquePointer
    private let statements: StatementCache

    /// - Parameters:
    ///   - path: The file; `:memory:` for none. No part of it may be a symbolic link.
    ///   - vfs: SQLite's name of the file layer; nil for the usual one.
    ///   - busyTimeout: How long to wait while another process writes.
    package init(
        path: String, access: Access = .readWrite, vfs: String? = nil, busyTimeout: Duration = .seconds(2)
    ) throws(DatabaseError) {
        let name = access == .immutable ? "file:\(path.escapedForURI)?immutable=1" : path
        let mode = access == .readWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY
        // One thread owns the connection, so SQLite need not lock it (https://sqlite.org/threadsafe.html).
        // A link could point anywhere, and the program may run as root.
        let flags = mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | (access == .immutable ? SQLITE_OPEN_URI : 0)
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(name, &handle, flags, vfs)
        guard let handle else {
            throw DatabaseError(code: code, message: String(cString: sqlite3_errstr(code)))
        }
        guard code == SQLITE_OK else {
            let error = DatabaseError(handle)
            sqlite3_close_v2(handle)
            throw error
        }
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, Int32(clamping: busyTimeout.components.seconds * 1000))
        csqlite_set_defensive(handle)
        // Members are set after all throwing calls: Swift 6.2 destroys members twice that were set before.
        self.handle = handle
        statements = StatementCache()
    }

    deinit {
        statements.close()
        sqlite3_close_v2(handle)
    }

    package func prepare(_ sql: String) throws(DatabaseError) -> Statement {
        try Statement(sql, on: handle, cache: statements)
    }

    /// Runs one statement to its end.
    package func run(_ sql: String, _ values: SQLValue...) throws(DatabaseError) {
        try prepare(sql).run(values)
    }

    /// The first column of the first row; nil if there is no row.
    package func value(_ sql: String, _ values: SQLValue...) throws(DatabaseError) -> SQLValue? {
        let statement = try prepare(sql)
        try statement.bind(values)
        return try statement.step() ? statement[0] : nil
    }

    /// Calls `body` for each row until it returns false.
    package func forEachRow(
        _ sql: String, _ values: [SQLValue] = [],
        _ body: (borrowing Statement) throws(DatabaseError) -> Bool
    ) throws(DatabaseError) {
        let statement = try prepare(sql)
        try statement.bind(values)
        while try statement.step() {
            guard try body(statement) else { return }
        }
    }

    /// Runs `body` as one transaction: all of it is on the disk when this returns, or none of it if it throws.
    package func transaction<Result>(
        _ body: () throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        // IMMEDIATE waits for the other writer at the beginning, where a failure costs nothing.
        try run("BEGIN IMMEDIATE")
        do throws(DatabaseError) {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            // Some errors have rolled back already.
            if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
            throw error
        }
    }

    /// Rows that the last INSERT, UPDATE or DELETE touched.
    package var changes: Int { Int(sqlite3_changes64(handle)) }

    /// The version of the schema; 0 in an empty file.
    func schemaVersion() throws(DatabaseError) -> Int64 { try value("PRAGMA user_version")?.asInteger ?? 0 }

    /// Changes whenever another connection has committed; costs no I/O.
    package func dataVersion() throws(DatabaseError) -> Int64 {
        try value("PRAGMA data_version")?.asInteger ?? 0
    }

    /// Copies as much of the log into the file as is possible without waiting for another process.
    func checkpoint() { sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil) }

    /// Closing copies no log into the file, and removes no file.
    func leaveLogAtClose() { csqlite_leave_log_at_close(handle) }

    /// Pages written to the disk by this connection since the last call.
    package func drainPagesWritten() -> Int {
        var current: Int32 = 0
        var highest: Int32 = 0
        sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &current, &highest, 1)
        return Int(current)
    }

    /// Whether the file was moved or deleted while it is open; later writes are lost.
    package var hasMoved: Bool {
        var moved: Int32 = 0
        return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0
    }
}

extension DatabaseError {
    /// The last error of a connection.
    init(_ connection: OpaquePointer, sql: String = "") {
        self.init(
            code: sqlite3_extended_errcode(connection), message: String(cString: sqlite3_errmsg(connection)), sql: sql)
    }
}

extension String {
    /// `%`, `?` and `#` have a meaning in a file URI.
    fileprivate var escapedForURI: String {
        var text = ""
        for character in self {
            switch character {
            case "%": text += "%25"
            case "?": text += "%3f"
            case "#": text += "%23"
            default: text.append(character)
            }
        }
        return text
    }
}
