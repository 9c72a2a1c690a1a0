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

    /// Whether the disk does not give out a part of the file or of its log. It may be a bad sector, or a disk that was
    /// unplugged for a moment.
    package var isUnreadable: Bool { code == Self.readFailed || code == Self.readFailedByDisk }

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
    /// SQLITE_IOERR_READ: a read failed with another error than EIO, such as EUCLEAN of a damaged file system.
    private static let readFailed = SQLITE_IOERR | 1 << 8
    /// SQLITE_IOERR_CORRUPTFS: a read failed with EIO. While a statement runs, SQLite makes SQLITE_CORRUPT of it; not so when a
    /// file is opened and its first page or its log is read.
    private static let readFailedByDisk = SQLITE_IOERR | 33 << 8

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
