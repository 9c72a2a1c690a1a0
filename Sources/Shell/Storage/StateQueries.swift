import Base
import Regions

/// The queries of both the service and the command line on an open database.
enum StateQueries {
    static func snapshot(_ database: borrowing Database) throws(DatabaseError) -> StoreSnapshot {
        var snapshot = StoreSnapshot()
        snapshot.regions = try regions(database)
        snapshot.presence = try presence(database)
        for row in try database.rows(SettingRow.self) where !row.key.hasPrefix("store.") {
            snapshot.values[row.key] = row.value
        }
        snapshot.edits = try edits(database)
        snapshot.outboxCount = Int(try database.value("SELECT count(*) FROM outbox")?.asInteger ?? 0)
        let history = try database.value("SELECT count(*) FROM history")?.asInteger ?? 0
        snapshot.isNew =
            snapshot.regions.isEmpty && snapshot.presence == nil && snapshot.values.isEmpty
            && snapshot.outboxCount == 0 && history == 0
        return snapshot
    }

    static func regions(_ database: borrowing Database) throws(DatabaseError) -> [ExactString: [Region]] {
        let rows = try database.rows(RegionRow.self, "ORDER BY tracker, position")
        return Dictionary(grouping: rows) { ExactString($0.tracker) }.mapValues { $0.map(\.region) }
    }

    /// The regions of all trackers, after the edits that the service has not merged yet.
    static func editedRegions(_ database: borrowing Database) throws(DatabaseError) -> [ExactString: RegionSet] {
        var sets = try regions(database).mapValues { RegionSet($0) }
        for edit in try edits(database) {
            guard let change = edit.regionChange else { continue }
            sets[ExactString(edit.tracker), default: RegionSet()].apply([change])
        }
        return sets
    }

    static func presence(_ database: borrowing Database) throws(DatabaseError) -> PresenceRecord? {
        guard var record = try database.rows(PresenceRow.self).first?.record else { return nil }
        if try database.schemaVersion() >= PresenceChangeRow.schemaVersion {
            record.changes = try database.rows(PresenceChangeRow.self, "ORDER BY id").map(\.state)
        }
        return record
    }

    /// The number of the last edit, merged or not; 0: there was none yet.
    static func lastEditNumber(_ database: borrowing Database) throws(DatabaseError) -> Int64 {
        try database.value("SELECT seq FROM sqlite_sequence WHERE name = 'region_edit'")?.asInteger ?? 0
    }

    /// Edits by the command line that the service has not merged.
    static func edits(_ database: borrowing Database, after id: Int64 = 0) throws(DatabaseError) -> [RegionEdit] {
        // A file that a newer program has not opened for writing yet may still be of the first schema.
        guard try database.schemaVersion() >= RegionEditRow.schemaVersion else { return [] }
        return try database.rows(RegionEditRow.self, "WHERE id > ?1 ORDER BY id", .integer(id)).map(\.edit)
    }
}
