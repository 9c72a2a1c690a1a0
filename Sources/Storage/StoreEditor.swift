package import Regions

/// Changes regions from outside the daemon, whether it runs or not.
///
/// The edits are queued in a table of their own. The daemon alone writes the regions: it takes edits
/// over within `StoreSettings.editInterval`, or when it starts, in one transaction with what follows
/// from them (a leave, say). So neither overwrites the other, and an edit counts once.
package struct StoreEditor: ~Copyable {
    private let database: Database

    /// Opens the state, or makes it if there is none.
    package init(directory: String, vfs: String? = nil) throws(StoreError) {
        try StoreFile.check(directory)
        let path = StoreSettings.path(in: directory)
        try StoreFile.create(path)
        database = try Self.open(path, vfs: vfs)
    }

    private static func open(_ path: String, vfs: String?) throws(StoreError) -> Database {
        let version: Int64
        do throws(DatabaseError) {
            let database = try Database(path: path, vfs: vfs, busyTimeout: .seconds(10))
            if try StoreFile.prepare(database) { return database }
            version = try database.schemaVersion()
        } catch {
            throw .database(error)
        }
        throw .newerSchema(path: path, found: version, known: Migrations.latest)
    }

    /// Queues changes of one tracker's regions, all or none.
    package func edit(_ tracker: String, _ changes: [RegionChange]) throws(DatabaseError) {
        try database.transaction { () throws(DatabaseError) in
            // The numbers go on where deleted edits ended: the daemon remembers the last it has seen.
            var id = try database.value("SELECT seq FROM sqlite_sequence WHERE name = 'region_edit'")?.asInteger ?? 0
            for change in changes {
                id += 1
                try database.insert(RegionEditRow(RegionEdit(id: id, tracker: tracker, change: change)))
            }
        }
    }
}
