import Base
import Glibc
import System

/// Opens the database of the state directory in any condition: a damaged file is set aside under another name, and its
/// readable rows are recovered into a new file.
enum StoreFile {
    /// A commit that makes the log this long copies it into the file. 512 pages instead of SQLite's 1000: at most
    /// 2 MiB of log beside the file.
    static let checkpointPages = 512

    /// - Parameters:
    ///   - takesUnreadableAsDamage: Whether a part that cannot be read is damage (a bad sector), and no passing failure.
    ///   - notices: Receives messages for the log.
    static func open(
        _ settings: StoreSettings, takesUnreadableAsDamage: Bool = false, notices: inout [Notice]
    ) throws(StoreError) -> Database {
        try check(settings.directory)
        // The replacement of a file was interrupted. The new file is complete in this case, and the log is of the former.
        if access(settings.path, F_OK) != 0, access(settings.path + ".new", F_OK) == 0 {
            remove(settings.path)
            rename(settings.path + ".new", settings.path)
        }
        try create(settings.path)
        do throws(DatabaseError) {
            let database = try connect(settings)
            if try prepare(database) { return database }
        } catch {
            guard error.isDamage || takesUnreadableAsDamage && error.isUnreadable else { throw .database(error) }
            return try replaceDamaged(settings, because: error, notices: &notices)
        }
        throw try mapError(StoreError.database) { () throws(DatabaseError) in
            let database = try connect(settings)
            return try newerSchema(database, settings.path)
        }
    }

    /// Makes a connection ready for use: inspects the file, and brings it up to date.
    ///
    /// - Returns: false for a file of a newer schema.
    static func prepare(_ database: borrowing Database) throws(DatabaseError) -> Bool {
        let finding = try Inspection.examine(database)
        if case .sound(let version) = finding, version > Migrations.latest { return false }
        // The log is synchronised at each commit, so committed data survives a power cut.
        try database.run("PRAGMA journal_mode = WAL")
        try database.run("PRAGMA synchronous = FULL")
        try database.run("PRAGMA foreign_keys = ON")
        // Deleted rows are overwritten if that costs no extra write, so that a damaged page cannot restore them.
        try database.run("PRAGMA secure_delete = FAST")
        try database.run("PRAGMA wal_autocheckpoint = \(checkpointPages)")
        try database.run("PRAGMA journal_size_limit = 4194304")
        let version: Int64 = if case .sound(let version) = finding { version } else { 0 }
        try Migrations.run(on: database, from: version)
        return true
    }

    private static func connect(_ settings: StoreSettings) throws(DatabaseError) -> Database {
        try Database(path: settings.path, vfs: settings.vfs, busyTimeout: settings.busyTimeout)
    }

    /// The error for a file that is too new for this program.
    static func newerSchema(_ database: borrowing Database, _ path: String) throws(DatabaseError) -> StoreError {
        .newerSchema(
            path: path, found: try database.schemaVersion(), known: Migrations.latest,
            writer: WriterVersion.read(database))
    }

    /// Refuses a state that is a link or, for root, may be another user's link.
    static func check(_ directory: String) throws(StoreError) {
        try mapError({ StoreError.untrusted($0.description) }) { () throws(OwnershipError) in
            try OwnedDirectory(directory).check(StoreSettings.fileName)
        }
    }

    /// Makes an empty file that only its owner may read: it can hold a remote configuration with its
    /// password. SQLite gives the files beside it the same mode.
    static func create(_ path: String) throws(StoreError) {
        let descriptor = Glibc.open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            guard errno != EEXIST else { return }
            throw .system(operation: "create", path: path, errno: errno)
        }
        // The command line may run as root beside a service of another user, so the file gets the owner of the
        // directory. Only root can change the owner, and no other user needs to.
        var directory = stat()
        if geteuid() == 0, stat(AtomicFile.directory(of: path), &directory) == 0 {
            _ = fchown(descriptor, directory.st_uid, directory.st_gid)
        }
        close(descriptor)
    }

    /// Replaces a damaged file by a new file with the good rows. The new file is complete before the damaged one is
    /// changed, so an interruption costs nothing.
    private static func replaceDamaged(
        _ settings: StoreSettings, because error: DatabaseError, notices: inout [Notice]
    ) throws(StoreError) -> Database {
        let path = settings.path
        let new = path + ".new"
        remove(new)
        try create(new)
        let salvaged: Salvage.Count
        do throws(DatabaseError) {
            salvaged = try fill(new, from: path, settings)
        } catch {
            // Half of a file must not be taken for a whole one later.
            remove(new)
            throw .database(error)
        }
        let aside = try setAside(path)
        guard rename(new, path) == 0 else { throw .system(operation: "rename", path: new, errno: errno) }
        do throws(DatabaseError) {
            notices.append(
                Notice(
                    .error,
                    "\(path) is damaged (\(error.message)); it is kept as \(aside), a new one is begun"
                        + (salvaged.isEmpty ? "" : " with what could be saved: \(salvaged)")))
            let database = try connect(settings)
            guard try prepare(database) else { throw .damaged("a new file is of a newer schema") }
            return database
        } catch {
            throw .database(error)
        }
    }

    /// Removes a database with its log, or what there is of it.
    static func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    }

    private static func fill(
        _ new: String, from path: String, _ settings: StoreSettings
    ) throws(DatabaseError) -> Salvage.Count {
        let database = try Database(path: new, vfs: settings.vfs, busyTimeout: settings.busyTimeout)
        guard try prepare(database) else { throw .damaged("a new file is not empty") }
        let salvaged = try Salvage.copy(from: path, vfs: settings.vfs, into: database)
        // Everything is copied into the one file, which is then renamed.
        try database.run("PRAGMA journal_mode = DELETE")
        return salvaged
    }

    /// Moves the file, and the log beside it, to the first free name.
    private static func setAside(_ path: String) throws(StoreError) -> String {
        // A card that damages its files repeatedly must not be filled with them, so the last name is used again.
        let names = (1...8).map { "\(path).damaged-\($0)" }
        let name = names.first { access($0, F_OK) != 0 } ?? names[names.count - 1]
        // The log is moved first: after an interruption, its frames would otherwise be copied into the new file.
        for suffix in ["-wal", "-shm", ""] {
            unlink(name + suffix)
            guard rename(path + suffix, name + suffix) == 0 || errno == ENOENT else {
                throw .system(operation: "rename", path: path + suffix, errno: errno)
            }
        }
        return name
    }
}
