import Base
import Glibc
import Regions

/// Gives a database whose log was removed its content again. The open connection still has all of it.
enum LostLog {
    /// Writes what the connection has into a new file, with the edits that the command line has written beside it, and
    /// puts that file in place. The connection must be closed after it.
    ///
    /// An interruption loses nothing: `StoreFile.open` takes a whole new file if the former one is gone.
    ///
    /// - Parameters:
    ///   - lastEdit: The last edit that the service has read.
    ///   - log: What is lost of it.
    /// - Returns: Why the edits that the command line has written since the loss could not be read; nil: they could.
    static func rescue(
        _ database: borrowing Database, _ settings: StoreSettings, after lastEdit: Int64, of log: OpenLog
    ) throws(StoreError) -> DatabaseError? {
        let (path, new) = (settings.path, settings.path + ".new")
        StoreFile.remove(new)
        try StoreFile.create(new)
        var damage: DatabaseError?
        do throws(StoreError) {
            do throws(DatabaseError) {
                try database.run("VACUUM INTO ?1", .text(new))
            } catch {
                throw .database(error)
            }
            var edits: [RegionEdit] = []
            do throws(StoreError) {
                edits = try written(in: path, settings, after: lastEdit, isLogItselfLost: log.isLogItselfLost)
            } catch .database(let error) where error.isDamage {
                // Without its log the file may be of no use.
                damage = error
            }
            try mapError(StoreError.database) { () throws(DatabaseError) in
                try add(edits, to: new, settings, after: lastEdit)
            }
        } catch {
            // Half of a file must not be taken for a whole one later.
            StoreFile.remove(new)
            throw error
        }
        // The content of another connection's log may be older, and must not come into the new file.
        database.leaveLogAtClose()
        StoreFile.remove(path)
        guard rename(new, path) == 0 else { throw .system(operation: "rename", path: new, errno: errno) }
        return damage
    }

    /// Adds edits to the content of the connection. The command line has numbered them by a file that lacks what only the lost log had:
    /// where a number was used already, the edit gets a new one, and later ones stay later.
    private static func add(
        _ edits: [RegionEdit], to new: String, _ settings: StoreSettings, after lastEdit: Int64
    ) throws(DatabaseError) {
        let target = try Database(path: new, vfs: settings.vfs, busyTimeout: settings.busyTimeout)
        let known = Set(try StateQueries.edits(target))
        var last = max(lastEdit, try StateQueries.lastEditNumber(target))
        for edit in edits where !known.contains(edit) {
            last = max(edit.id, last + 1)
            try target.insert(RegionEditRow(RegionEdit(id: last, tracker: edit.tracker, change: edit.change)))
        }
        // It is the whole state, and the former file goes.
        try target.run("PRAGMA journal_mode = DELETE")
        try target.synchronize(new)
    }

    /// The edits that the command line has written since the loss. The file still has some that were merged before it, because only the
    /// lost log knows that they are deleted. Those are told by their numbers, or, as a new edit may have a former number, by being in the
    /// file itself: what was written since is in the log beside it.
    ///
    /// Reads a copy: SQLite lets all connections of a process to one file share the state of its log, which is that of the lost one.
    private static func written(
        in path: String, _ settings: StoreSettings, after lastEdit: Int64, isLogItselfLost: Bool
    ) throws(StoreError) -> [RegionEdit] {
        let copy = path + ".copy"
        defer { StoreFile.remove(copy) }
        StoreFile.remove(copy)
        guard try Self.copy(path, to: copy) else { return [] }
        var former: Set<RegionEdit> = []
        if isLogItselfLost { former = Set(try edits(in: copy, .immutable, settings)) }
        _ = try Self.copy(path + "-wal", to: copy + "-wal")
        return try edits(in: copy, .readWrite, settings).filter { edit in
            edit.id > lastEdit || isLogItselfLost && !former.contains(edit)
        }
    }

    private static func edits(
        in path: String, _ access: Database.Access, _ settings: StoreSettings
    ) throws(StoreError) -> [RegionEdit] {
        try mapError(StoreError.database) { () throws(DatabaseError) in
            let database = try Database(
                path: path, access: access, vfs: settings.vfs, busyTimeout: settings.busyTimeout)
            return try StateQueries.edits(database)
        }
    }

    /// - Returns: false if there is no such file.
    /// - Throws: if not all of it could be copied.
    private static func copy(_ path: String, to copy: String) throws(StoreError) -> Bool {
        let source = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard source >= 0 else {
            guard errno == ENOENT else { throw .system(operation: "read", path: path, errno: errno) }
            return false
        }
        defer { close(source) }
        let target = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard target >= 0 else { throw .system(operation: "create", path: copy, errno: errno) }
        defer { close(target) }
        while true {
            let count = sendfile(target, source, nil, 1 << 20)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(operation: "write", path: copy, errno: errno) }
            if count == 0 { return true }
        }
    }
}

extension Database {
    /// Waits until a file is on the disk.
    fileprivate func synchronize(_ path: String) throws(DatabaseError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        guard descriptor >= 0, fsync(descriptor) == 0 else { throw .damaged("\(path) cannot be synchronised") }
    }
}
