package import Glibc

/// Replaces a file so that a reader sees either the whole old content or the whole new content, also after a power cut.
package enum AtomicFile {
    /// Mode and owner of the new file.
    package struct Attributes: Hashable, Sendable {
        /// Permission bits.
        package var mode: mode_t
        /// nil: as the process makes files.
        package var owner: uid_t?
        /// nil: as the process makes files.
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
    /// - Throws: with `create` if the new file cannot be made, with `write` if it cannot be filled, get its
    ///   attributes or take the place of the old file. The old file is untouched then.
    package static func replace(
        _ path: String, by bytes: [UInt8], _ attributes: Attributes
    ) throws(FileError) {
        let temporary = "\(path).new-\(getpid())"
        // Readable for its owner alone until it has its attributes: the content may be a secret.
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        var descriptor = retrying { open(temporary, flags, 0o600) }
        if descriptor < 0, errno == EEXIST {
            // A file of a killed process with the same number. In a container the number is the same at every start.
            unlink(temporary)
            descriptor = retrying { open(temporary, flags, 0o600) }
        }
        guard descriptor >= 0 else { throw .last(.create, path) }
        let isWritten =
            bytes.withUnsafeBytes { writeAll($0, to: descriptor) } && give(descriptor, attributes)
            && fsync(descriptor) == 0
        let reason = errno
        // A network file system reports a full disk here.
        let isClosed = close(descriptor) == 0
        guard isWritten, isClosed, rename(temporary, path) == 0 else {
            let last = isWritten ? errno : reason
            unlink(temporary)
            throw FileError(.write, path, .system(last))
        }
        synchroniseDirectory(of: path)
    }

    private static func give(_ descriptor: CInt, _ attributes: Attributes) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        let owner = attributes.owner ?? status.st_uid
        let group = attributes.group ?? status.st_gid
        // The owner first, since a change of owner clears bits of the mode.
        if owner != status.st_uid || group != status.st_gid, fchown(descriptor, owner, group) != 0 { return false }
        return fchmod(descriptor, attributes.mode) == 0
    }

    /// Writes the new name to the disk. If that fails, the content is safe and the old name may come back.
    private static func synchroniseDirectory(of path: String) {
        let descriptor = open(directory(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    /// The directory that a path names an entry of.
    package static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The path after all symbolic links; `path` itself if there is no target.
    package static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }
}
