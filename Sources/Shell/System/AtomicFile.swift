package import Glibc

/// Replaces a file so that a reader sees either the whole old content or the whole new content, even after a power cut.
package enum AtomicFile {
    /// Mode and owner of the new file.
    package struct Attributes: Hashable, Sendable {
        /// Permission bits.
        package var mode: mode_t
        /// nil for that of files that the process creates.
        package var owner: uid_t?
        /// nil for that of files that the process creates.
        package var group: gid_t?

        package init(mode: mode_t, owner: uid_t? = nil, group: gid_t? = nil) {
            self.mode = mode
            self.owner = owner
            self.group = group
        }
    }

    /// Writes `bytes` into a new file beside `path` and renames it. A symbolic link at `path` is replaced, not
    /// followed; `resolved(_:)` follows it.
    ///
    /// - Throws: `FileError` with `create` if the new file cannot be created, with `write` if it cannot be filled, get
    ///   its attributes or replace the old file. The old file is then unchanged.
    package static func replace(
        _ path: String, by bytes: [UInt8], _ attributes: Attributes
    ) throws(FileError) {
        let temporary = "\(path).new-\(getpid())"
        let descriptor = try FileError.wrapping(.create, path) { () throws(SystemError) in try create(temporary) }
        do throws(SystemError) {
            try fill(descriptor, bytes, attributes)
            try systemCall("rename") { rename(temporary, path) }
        } catch {
            unlink(temporary)
            throw FileError(.write, path, .system(error))
        }
        synchroniseDirectory(of: path)
    }

    /// Creates a file that only its owner can read until the attributes are set: the content may be a secret.
    private static func create(_ path: String) throws(SystemError) -> CInt {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        do throws(SystemError) {
            return try systemCall("open") { open(path, flags, 0o600) }
        } catch {
            guard error.code == EEXIST else { throw error }
            // A killed process with the same id left this file. In a container the id is the same at every start.
            unlink(path)
            return try systemCall("open") { open(path, flags, 0o600) }
        }
    }

    /// Writes the whole content to the disk, and closes the file.
    private static func fill(
        _ descriptor: CInt, _ bytes: [UInt8], _ attributes: Attributes
    ) throws(SystemError) {
        do throws(SystemError) {
            try writeAll(bytes, to: descriptor)
            try give(descriptor, attributes)
            try systemCall("fsync") { fsync(descriptor) }
        } catch {
            close(descriptor)
            throw error
        }
        try closeWritten(descriptor)
    }

    private static func give(_ descriptor: CInt, _ attributes: Attributes) throws(SystemError) {
        var status = stat()
        try systemCall("fstat") { fstat(descriptor, &status) }
        let owner = attributes.owner ?? status.st_uid
        let group = attributes.group ?? status.st_gid
        // The owner is set first, because a change of owner clears bits of the mode.
        if owner != status.st_uid || group != status.st_gid {
            try systemCall("fchown") { fchown(descriptor, owner, group) }
        }
        try systemCall("fchmod") { fchmod(descriptor, attributes.mode) }
    }

    /// Writes the new name to the disk. If that fails, the content is safe and the old name may come back.
    private static func synchroniseDirectory(of path: String) {
        let descriptor = open(directory(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    /// The directory that contains the entry at a path.
    package static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The path with all symbolic links resolved; `path` itself if it leads to no file.
    package static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }
}
