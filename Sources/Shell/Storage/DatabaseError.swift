import CSQLite

/// A failed operation of SQLite. It never contains bound values, because they may contain secrets.
package struct DatabaseError: Error, Hashable, Sendable {
    /// SQLite's extended result code (https://sqlite.org/rescode.html).
    package let code: Int32
    package let message: String
    /// The statement, with `?` where values were bound; empty if it was not about one.
    package var sql = ""

    /// The low byte: the kind of failure.
    package var primaryCode: Int32 { code & 0xff }

    /// Whether the failure may end by itself or by a person, so that the same work is tried again.
    package var isPassing: Bool {
        switch primaryCode {
        case SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY, SQLITE_BUSY, SQLITE_LOCKED, SQLITE_CANTOPEN,
            SQLITE_NOMEM, SQLITE_PERM, SQLITE_PROTOCOL, SQLITE_INTERRUPT:
            true
        default: false
        }
    }

    /// Whether the file is damaged.
    package var isDamage: Bool {
        primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB
    }

    package var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }
    package var isDiskFull: Bool { primaryCode == SQLITE_FULL }
    /// The file was deleted or renamed while it was open.
    var isMoved: Bool { code == Self.moved.code }
}

extension DatabaseError: CustomStringConvertible {
    package var description: String {
        "\(message) (SQLite \(code))" + (sql.isEmpty ? "" : " in: \(sql)")
    }
}

extension DatabaseError {
    static let moved = DatabaseError(
        code: SQLITE_READONLY | 4 << 8, message: "the file was moved or deleted while it was in use")

    static func tooLarge(bytes: Int) -> DatabaseError {
        DatabaseError(code: SQLITE_TOOBIG, message: "a message of \(bytes) bytes is too large to keep")
    }

    /// A query of this program names its columns otherwise than the code that reads them.
    static func misnamed(_ sql: String) -> DatabaseError {
        DatabaseError(code: SQLITE_MISUSE, message: "the columns have other names", sql: sql)
    }

    /// The content of the file cannot have been written by this program.
    static func damaged(_ what: String) -> DatabaseError {
        DatabaseError(code: SQLITE_CORRUPT, message: what)
    }
}
