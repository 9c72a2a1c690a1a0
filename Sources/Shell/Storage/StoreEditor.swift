import Base
package import Regions

/// Changes regions from outside the service, whether it runs or not.
///
/// The edits are queued in a separate table. Only the service writes the regions: it merges edits within
/// `StoreSettings.editInterval`, or when it starts, in one transaction with their consequences (such as a leave). So
/// neither overwrites the other, and an edit counts once.
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
        let refusal: StoreError
        do throws(DatabaseError) {
            let database = try Database(path: path, vfs: vfs, busyTimeout: .seconds(10))
            if try StoreFile.prepare(database) { return database }
            refusal = try StoreFile.newerSchema(database, path)
        } catch {
            throw .database(error)
        }
        throw refusal
    }

    /// Queues changes of one tracker's regions, all or none.
    ///
    /// - Parameter erased: A tracker whose history is deleted with it. The daemon is asked to do so as well, since it may be
    ///   about to write more.
    package func edit(
        _ tracker: String, _ changes: [RegionChange], erasingHistoryOf erased: String? = nil
    ) throws(DatabaseError) {
        // What is deleted is overwritten, not only given up.
        if erased != nil { try database.run("PRAGMA secure_delete = ON") }
        defer {
            // The overwritten pages are in the log until a checkpoint; while the service reads, it may not be possible.
            if erased != nil { try? database.run("PRAGMA wal_checkpoint(TRUNCATE)") }
        }
        try database.transaction { () throws(DatabaseError) in
            let id = try append(changes, of: tracker)
            guard let erased else { return }
            try database.run("DELETE FROM history WHERE tracker = ?1", .text(erased))
            try database.insert(RegionEditRow(RegionEdit(id: id + 1, tracker: erased, change: .eraseHistory)))
        }
    }

    /// Queues changes that depend on the tracker's regions. No other command changes these in between.
    ///
    /// - Parameters:
    ///   - limit: The service would refuse more regions than that. nil: there is no such limit.
    ///   - decide: The changes, from the regions as they are after all edits that wait.
    /// - Returns: The number of regions that there would be, which is too large, so that nothing was queued; nil: it was.
    @discardableResult package func edit(
        _ tracker: String, within limit: RegionLimit? = nil, deciding decide: (RegionSet) -> [RegionChange]
    ) throws(DatabaseError) -> Int? {
        try database.transaction { () throws(DatabaseError) -> Int? in
            let all = try StateQueries.editedRegions(database)
            let changes = decide(all[ExactString(tracker)] ?? RegionSet())
            if let total = limit?.excess(of: changes, to: tracker, in: all) { return total }
            _ = try append(changes, of: tracker)
            return nil
        }
    }

    /// - Returns: The number of the last edit.
    private func append(_ changes: [RegionChange], of tracker: String) throws(DatabaseError) -> Int64 {
        // The numbers continue after deleted edits: the service remembers the last one.
        var id = try StateQueries.lastEditNumber(database)
        for change in changes {
            id += 1
            try database.insert(RegionEditRow(RegionEdit(id: id, tracker: tracker, change: .region(change))))
        }
        return id
    }
}
