import CSQLite

/// A prepared statement. At the end of its scope it is cached, or finalised.
package struct Statement: ~Copyable {
    private let handle: OpaquePointer
    /// Its connection, which lives at least as long: SQLite keeps a closed connection until its last
    /// statement is gone.
    private let connection: OpaquePointer
    private let sql: String
    private let cache: StatementCache
    /// Whether it will be used again.
    private let isKept: Bool

    init(_ sql: String, on connection: OpaquePointer, cache: StatementCache) throws(DatabaseError) {
        // Members are set after all throwing calls: Swift 6.2 destroys members twice that were set before.
        if let kept = cache.remove(sql) {
            handle = kept
            isKept = true
        } else {
            handle = try Self.compile(sql, on: connection)
            isKept = StatementCache.keeps(sql)
        }
        self.cache = cache
        self.connection = connection
        self.sql = sql
    }

    deinit { if isKept { cache.put(handle, sql: sql) } else { sqlite3_finalize(handle) } }

    private static func compile(_ sql: String, on connection: OpaquePointer) throws(DatabaseError) -> OpaquePointer {
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v2(connection, sql, -1, &handle, nil)
        guard code == SQLITE_OK else { throw DatabaseError(connection, sql: sql) }
        guard let handle else { throw DatabaseError(code: SQLITE_MISUSE, message: "empty statement", sql: sql) }
        return handle
    }

    /// Binds the values for `?1`, `?2` … in their order; all others become NULL.
    package func bind(_ values: [SQLValue]) throws(DatabaseError) {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        for (offset, value) in values.enumerated() {
            let index = Int32(offset + 1)
            let code =
                switch value {
                case .null: sqlite3_bind_null(handle, index)
                case .integer(let number): sqlite3_bind_int64(handle, index, number)
                case .real(let number): sqlite3_bind_double(handle, index, number)
                case .text(var text): bind(&text, at: index)
                case .blob(let bytes): bind(bytes, at: index)
                }
            guard code == SQLITE_OK else { throw DatabaseError(connection, sql: sql) }
        }
    }

    /// - Returns: true if there is a row, false at the end.
    package func step() throws(DatabaseError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let error = DatabaseError(connection, sql: sql)
            sqlite3_reset(handle)
            throw error
        }
    }

    /// Binds and runs to the end.
    package func run(_ values: [SQLValue]) throws(DatabaseError) {
        try bind(values)
        while try step() {}
        sqlite3_reset(handle)
    }

    /// Columns of the row, counted from 0.
    package subscript(column: Int) -> SQLValue {
        let index = Int32(column)
        switch sqlite3_column_type(handle, index) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, index))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, index))
        case SQLITE_TEXT:
            guard let start = sqlite3_column_text(handle, index) else { return .text("") }
            let count = Int(sqlite3_column_bytes(handle, index))
            return .text(String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
        case SQLITE_BLOB:
            guard let start = sqlite3_column_blob(handle, index) else { return .blob([]) }
            return .blob([UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, index)))))
        default: return .null
        }
    }

    package var columnCount: Int { Int(sqlite3_column_count(handle)) }

    /// The names of the columns, in their order.
    var columnNames: [String] {
        (0..<sqlite3_column_count(handle)).map { sqlite3_column_name(handle, $0).map { String(cString: $0) } ?? "" }
    }

    private func bind(_ text: inout String, at index: Int32) -> Int32 {
        text.withUTF8 { utf8 in
            // An empty buffer may have no address, and no address means NULL to SQLite.
            guard let start = utf8.baseAddress else {
                return sqlite3_bind_text(handle, index, "", 0, csqlite_transient())
            }
            return start.withMemoryRebound(to: CChar.self, capacity: utf8.count) {
                sqlite3_bind_text64(
                    handle, index, $0, UInt64(utf8.count), csqlite_transient(), UInt8(truncatingIfNeeded: SQLITE_UTF8))
            }
        }
    }

    private func bind(_ bytes: [UInt8], at index: Int32) -> Int32 {
        guard !bytes.isEmpty else { return sqlite3_bind_zeroblob(handle, index, 0) }
        return bytes.withUnsafeBytes {
            sqlite3_bind_blob64(handle, index, $0.baseAddress, UInt64($0.count), csqlite_transient())
        }
    }
}
