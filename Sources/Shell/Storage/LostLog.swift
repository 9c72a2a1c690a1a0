import Glibc
import Regions

/// Gives a database whose log was removed its content again. The open connection still has all of it.
enum LostLog {
    /// Writes what the connection has into a new file, with the edits that the command line has written beside it, and
    /// puts that file in place. The connection must be closed after it.
    ///
    /// An interruption loses nothing: `StoreFile.open` takes a whole new file if the former one is gone.
    ///
    /// - Parameter lastEdit: The last edit that the service has read.
    static func rescue(
        _ database: borrowing Database, _ settings: StoreSettings, after lastEdit: Int64
    ) throws(StoreError) {
        let (path, new) = (settings.path, settings.path + ".new")
        StoreFile.remove(new)
        try StoreFile.create(new)
        do throws(DatabaseError) {
            try database.run("VACUUM INTO ?1", .text(new))
            try addEdits(of: path, to: new, settings, after: lastEdit)
        } catch {
            // Half of a file must not be taken for a whole one later.
            StoreFile.remove(new)
            throw .database(error)
        }
        // The content of another connection's log may be older, and must not come into the new file.
        database.leaveLogAtClose()
        StoreFile.remove(path)
        guard rename(new, path) == 0 else { throw .system(operation: "rename", path: new, errno: errno) }
    }

    /// The command line writes into the file in the directory, which lacks what only the lost log had.
    private static func addEdits(
        of path: String, to new: String, _ settings: StoreSettings, after lastEdit: Int64
    ) throws(DatabaseError) {
        let target = try Database(path: new, vfs: settings.vfs, busyTimeout: settings.busyTimeout)
        let known = Set(try StateQueries.edits(target).map(\.id))
        // Without its log the file may be of no use.
        let edits = (try? written(in: path, settings, after: lastEdit)) ?? []
        for edit in edits where !known.contains(edit.id) { try target.insert(RegionEditRow(edit)) }
        // It is the whole state, and the former file goes.
        try target.run("PRAGMA journal_mode = DELETE")
        try target.synchronize(new)
    }

    /// Reads a copy: SQLite lets all connections of a process to one file share the state of its log, which is that of the
    /// lost one.
    private static func written(
        in path: String, _ settings: StoreSettings, after lastEdit: Int64
    ) throws(DatabaseError) -> [RegionEdit] {
        let copy = path + ".copy"
        defer { StoreFile.remove(copy) }
        StoreFile.remove(copy)
        for suffix in ["", "-wal"] {
            guard Self.copy(path + suffix, to: copy + suffix) || !suffix.isEmpty else { return [] }
        }
        let other = try Database(path: copy, vfs: settings.vfs, busyTimeout: settings.busyTimeout)
        return try StateQueries.edits(other, after: lastEdit)
    }

    /// - Returns: Whether the whole file was copied.
    private static func copy(_ path: String, to copy: String) -> Bool {
        let source = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard source >= 0 else { return false }
        defer { close(source) }
        let target = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard target >= 0 else { return false }
        defer { close(target) }
        while true {
            let count = sendfile(target, source, nil, 1 << 20)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 }
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
