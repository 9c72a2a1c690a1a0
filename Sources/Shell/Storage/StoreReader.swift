package import Base
import Glibc
package import Regions

/// Reads the state from outside the service, whether it runs or not.
package struct StoreReader: ~Copyable {
    let database: Database

    /// - Throws: `StoreError.absent` if there is no state yet.
    package init(directory: String, vfs: String? = nil) throws(StoreError) {
        try StoreFile.check(directory)
        let path = StoreSettings.path(in: directory)
        database = try Self.openKnown(path, vfs: vfs)
    }

    private static func openKnown(_ path: String, vfs: String?) throws(StoreError) -> Database {
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT else { throw .system(operation: "read", path: path, errno: errno) }
            throw .absent(path: path)
        }
        // A new file has no tables before its first transaction.
        guard status.st_size > 0 else { throw .absent(path: path) }
        let database = try open(path, vfs: vfs)
        let version = try version(of: database)
        guard version <= Migrations.latest else {
            throw .newerSchema(
                path: path, found: version, known: Migrations.latest, writer: WriterVersion.read(database))
        }
        guard version > 0 else { throw .absent(path: path) }
        return database
    }

    /// A database with a write-ahead log needs an index file beside it. If that cannot be created and there is no log,
    /// the file alone is complete.
    private static func open(_ path: String, vfs: String?) throws(StoreError) -> Database {
        do throws(DatabaseError) {
            let database = try Database(path: path, access: .readOnly, vfs: vfs, busyTimeout: .seconds(5))
            _ = try database.value("SELECT count(*) FROM sqlite_master")
            return database
        } catch {
            var log = stat()
            guard error.isPassing, stat(path + "-wal", &log) != 0 || log.st_size == 0 else { throw .database(error) }
        }
        return try mapError(StoreError.database) { () throws(DatabaseError) in
            try Database(path: path, access: .immutable, vfs: vfs)
        }
    }

    private static func version(of database: borrowing Database) throws(StoreError) -> Int64 {
        do throws(DatabaseError) {
            return try database.schemaVersion()
        } catch {
            throw .database(error)
        }
    }

    /// Whether the file is undamaged. This reads everything once.
    func isSound() throws(StoreError) -> Bool {
        do throws(DatabaseError) {
            _ = try Inspection.examine(database)
            return true
        } catch {
            guard error.isDamage else { throw .database(error) }
            return false
        }
    }

    /// All trackers that have regions, with the regions in their order, after the edits that the service has not merged
    /// yet.
    package func regions() throws(DatabaseError) -> [ExactString: RegionSet] {
        try StateQueries.editedRegions(database)
    }

    /// The presence that the service stored last, with the changes since; nil if there is none.
    package func presence() throws(DatabaseError) -> PresenceRecord? { try StateQueries.presence(database) }

    /// A value that was kept under this key; nil if there is none.
    package func value(of key: String) throws(DatabaseError) -> [UInt8]? {
        try database.rows(SettingRow.self).first { $0.key.hasSameBytes(as: key) }?.value
    }

    /// Calls `body` with past transitions, the oldest first, until it returns false.
    package func forEachTransition(
        _ filter: HistoryFilter, _ body: (PastTransition) -> Bool
    ) throws(DatabaseError) {
        var conditions: [String] = []
        var values: [SQLValue] = []
        let add = { (condition: String, value: SQLValue) in
            values.append(value)
            conditions.append(condition.split(separator: "#").joined(separator: "?\(values.count)"))
        }
        if let tracker = filter.tracker { add("tracker = # ", .text(tracker)) }
        if let region = filter.region { add("(rid = # OR name = # )", .text(region)) }
        if let since = filter.since { add("tst >= # ", .integer(since)) }
        if let until = filter.until { add("tst < # ", .integer(until)) }
        let condition = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        values.append(.number(max(0, filter.limit)))
        let sql = """
            SELECT \(HistoryRow.table.columnList) FROM (SELECT * FROM history \(condition) ORDER BY id DESC
            LIMIT ?\(values.count)) ORDER BY id
            """
        try database.forEachRow(sql, values) { statement throws(DatabaseError) in
            // One damaged row must not hide the others. The next start of the service recovers the file.
            guard let row = HistoryRow(statement) else { return true }
            return body(row.entry)
        }
    }

    /// Calls `body` with past locations, the oldest first, until it returns false. A state of an earlier version has
    /// none.
    ///
    /// - Parameter filter: Its region is ignored.
    package func forEachLocation(
        _ filter: HistoryFilter, _ body: (PastLocation) -> Bool
    ) throws(DatabaseError) {
        guard try database.schemaVersion() >= LocationRow.schemaVersion else { return }
        let sql = """
            SELECT \(LocationRow.table.columnList) FROM (SELECT * FROM location
            WHERE (?1 IS NULL OR tracker = ?1) AND tst >= ?2 AND tst < ?3 ORDER BY id DESC LIMIT ?4) ORDER BY id
            """
        let values: [SQLValue] = [
            .optional(filter.tracker), .integer(filter.since ?? .min), .integer(filter.until ?? .max),
            .number(max(0, filter.limit)),
        ]
        try database.forEachRow(sql, values) { statement throws(DatabaseError) in
            guard let row = LocationRow(statement) else { return true }
            return body(row.entry)
        }
    }

    private enum WaitingColumn: Int, ResultColumn { case kind, rows, bytes, unstamped }

    private static let waitingByKind = Query<WaitingColumn>(
        """
        SELECT kind, count(*) AS rows, total(length(payload)) AS bytes,
        count(*) FILTER (WHERE \(WallStamp.isMissing)) AS unstamped FROM outbox GROUP BY kind
        """)

    /// A summary of the file, without the service.
    ///
    /// - Parameter since: Epoch seconds from which on refused messages are counted as recent.
    package func summary(since: Int64 = 0) throws(DatabaseError) -> StoreSummary {
        var summary = StoreSummary()
        summary.schemaVersion = try database.schemaVersion()
        try database.forEachRow(Self.waitingByKind) { row throws(DatabaseError) in
            if let kind = row[.kind].asInteger.flatMap(Publication.Kind.init(rawValue:)) {
                summary.waiting[kind] = Int(row[.rows].asInteger ?? 0)
                summary.waitingBytes += Int(row[.bytes].asReal ?? 0)
                summary.waitingForClock += Int(row[.unstamped].asInteger ?? 0)
            }
            return true
        }
        summary.refused = try database.rows(RefusedRow.self, "ORDER BY id DESC LIMIT 20")
        summary.refusedRows = try Outbox.refusedCount(since: .min, in: database)
        summary.recentlyRefused = try Outbox.refusedCount(since: since, in: database)
        summary.transitions = Int(try database.value("SELECT count(*) FROM history")?.asInteger ?? 0)
        summary.edits = try StateQueries.edits(database).count
        return summary
    }
}
