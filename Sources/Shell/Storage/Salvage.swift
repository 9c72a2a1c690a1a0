/// Takes the good rows out of a damaged file. A row is good if its digest holds, so what comes out is
/// what was written once. A row that was deleted and not overwritten yet may come back: for a message
/// that is a byte-identical repeat, as after a crash.
enum Salvage {
    struct Count {
        var rows: [(table: String, count: Int)] = []
        var isEmpty: Bool { rows.isEmpty }
    }

    /// - Returns: The number of saved rows by table; empty if the file cannot be opened.
    /// - Throws: If the new file cannot be written. Damage of the old file is no error.
    static func copy(
        from path: String, vfs: String?, into database: borrowing Database
    ) throws(DatabaseError) -> Count {
        guard let damaged = open(path, vfs: vfs) else { return Count() }
        var count = Count()
        try database.transaction { () throws(DatabaseError) in
            try copy(SettingRow.self, from: damaged, into: database, &count) { !$0.key.hasPrefix("store.") }
            try copy(BootRow.self, from: damaged, into: database, &count)
            try copy(RegionRow.self, from: damaged, into: database, &count)
            try copy(RegionEditRow.self, from: damaged, into: database, &count)
            try copy(PresenceRow.self, from: damaged, into: database, &count)
            try copy(PresenceChangeRow.self, from: damaged, into: database, &count)
            try copy(OutboxRow.self, from: damaged, into: database, &count)
            try copy(RefusedRow.self, from: damaged, into: database, &count)
            try copy(HistoryRow.self, from: damaged, into: database, &count)
            try copy(LocationRow.self, from: damaged, into: database, &count)
        }
        return count
    }

    private static func open(_ path: String, vfs: String?) -> Database? {
        for access in [Database.Access.readOnly, .immutable] {
            guard let database = try? Database(path: path, access: access, vfs: vfs) else { continue }
            if (try? database.value("SELECT count(*) FROM sqlite_master")) != nil { return database }
        }
        return nil
    }

    private static func copy<Stored: StoredRow>(
        _ type: Stored.Type, from damaged: borrowing Database, into database: borrowing Database, _ count: inout Count,
        where isWanted: (Stored) -> Bool = { _ in true }
    ) throws(DatabaseError) {
        let saved = read(Stored.self, from: damaged).filter(isWanted)
        try database.insert(saved)
        if !saved.isEmpty { count.rows.append((Stored.table.name, saved.count)) }
    }

    /// Reads from the beginning as far as possible. If that is not the end, also from the end.
    private static func read<Stored: StoredRow>(_ type: Stored.Type, from damaged: borrowing Database) -> [Stored] {
        var rows: [Stored] = []
        for order in ["ASC", "DESC"] {
            do throws(DatabaseError) {
                // By the first column, which begins the key of every table.
                let sql = "SELECT \(Stored.table.columnList) FROM \(Stored.table) ORDER BY 1 \(order)"
                var passed = 0
                try damaged.forEachRow(sql) { statement throws(DatabaseError) in
                    if let row = Stored(statement) { rows.append(row) }
                    passed += 1
                    // Pages that point at each other in a circle would go on for ever.
                    return passed < 1_000_000
                }
                return rows
            } catch {
                continue
            }
        }
        return rows
    }
}

extension Salvage.Count: CustomStringConvertible {
    var description: String {
        rows.map { "\($0.count) of \($0.table)" }.joined(separator: ", ")
    }
}
