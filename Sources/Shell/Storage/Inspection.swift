/// Whether a file is undamaged: its structure, its schema, and every row.
enum Inspection {
    enum Finding: Equatable {
        /// The file has no tables yet.
        case empty
        /// Undamaged, of this schema version.
        case sound(version: Int64)
    }

    /// The value that stores the digest of the schema.
    private static let sealKey = "store.schema"

    /// Reads everything once; at most a few seconds for a full outbox.
    ///
    /// - Throws: the damage (`isDamage`), or why the file could not be read.
    static func examine(_ database: borrowing Database) throws(DatabaseError) -> Finding {
        // With this setting, a cell that exceeds its page is an error.
        try database.run("PRAGMA cell_size_check = ON")
        let tables = try database.value("SELECT count(*) FROM sqlite_master")?.asInteger
        let version = try database.schemaVersion()
        if tables == 0, version == 0 { return .empty }
        guard try database.value("PRAGMA application_id")?.asInteger == Migrations.applicationID else {
            throw .damaged("it is not a state file of this program")
        }
        try checkSeal(database, version: version)
        guard try database.value("PRAGMA integrity_check(1)") == .text("ok") else {
            throw .damaged("the integrity check failed")
        }
        // Tables that a later schema added or changed are ignored.
        if version <= Migrations.latest { try checkRows(database, version: version) }
        return .sound(version: version)
    }

    /// Records the schema as it is now.
    static func seal(_ database: borrowing Database, version: Int64) throws(DatabaseError) {
        let text = "\(version) \(try schemaDigest(database))"
        try database.insert(SettingRow(key: sealKey, value: Array(text.utf8)))
    }

    /// A flipped bit in the version must not look like the file of a newer program, and a flipped bit in a column's
    /// name must not look like a wrong statement of this program.
    private static func checkSeal(_ database: borrowing Database, version: Int64) throws(DatabaseError) {
        let settings: [SettingRow] = try askingStructure(database) { database throws(DatabaseError) in
            try database.rows(SettingRow.self, "WHERE key = ?1", .text(sealKey))
        }
        let digest = try schemaDigest(database)
        guard let seal = settings.first, seal.value == Array("\(version) \(digest)".utf8) else {
            throw .damaged("the schema is not the one that was written")
        }
    }

    private static func checkRows(_ database: borrowing Database, version: Int64) throws(DatabaseError) {
        try askingStructure(database) { database throws(DatabaseError) in
            try check(SettingRow.self, in: database)
            try check(BootRow.self, in: database)
            try check(RegionRow.self, in: database)
            try check(PresenceRow.self, in: database)
            try check(OutboxRow.self, in: database)
            try check(RefusedRow.self, in: database)
            try check(HistoryRow.self, in: database)
            if version >= PresenceChangeRow.schemaVersion { try check(PresenceChangeRow.self, in: database) }
            if version >= LocationRow.schemaVersion { try check(LocationRow.self, in: database) }
            if version >= RegionEditRow.schemaVersion {
                try check(RegionEditRow.self, in: database)
                let sequence = try database.value("SELECT max(seq) FROM sqlite_sequence")?.asInteger ?? 0
                guard (0...1 << 53).contains(sequence) else { throw .damaged("the edit number is \(sequence)") }
            }
        }
    }

    private static func check<Stored: StoredRow>(
        _ type: Stored.Type, in database: borrowing Database
    ) throws(DatabaseError) {
        let sql = "SELECT \(Stored.table.columnList) FROM \(Stored.table)"
        try database.forEachRow(sql) { statement throws(DatabaseError) in
            guard Stored(statement) != nil else { throw .damaged("a row of \(Stored.table) is not what was written") }
            return true
        }
    }

    /// In a file with a damaged schema the statements of this program do not compile. This is damage, and no mistake of
    /// the program.
    private static func askingStructure<Result>(
        _ database: borrowing Database, _ body: (borrowing Database) throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        do throws(DatabaseError) {
            return try body(database)
        } catch {
            guard error.isPassing || error.isDamage else { throw .damaged(error.message) }
            throw error
        }
    }

    private static func schemaDigest(_ database: borrowing Database) throws(DatabaseError) -> Int64 {
        var digest = RowDigest()
        let sql = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
        try database.forEachRow(sql) { statement throws(DatabaseError) in
            for column in 0..<4 { digest.add(statement[column]) }
            return true
        }
        return Int64(bitPattern: digest.value)
    }
}
