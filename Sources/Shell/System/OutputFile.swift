import Glibc

/// Writes a file to a path that a person chose, over any kind of existing file.
package enum OutputFile {
    /// Writes `bytes` to `path`:
    /// - a regular file is replaced whole and keeps its mode and owner; where the process may not give the new
    ///   file that owner, or may not make a file beside it, the old one is overwritten in place;
    /// - a symbolic link is followed, and its target is handled by these rules;
    /// - a device, FIFO or terminal is written to and stays;
    /// - a new file may be read by all users, as far as the process's umask allows.
    package static func write(_ bytes: [UInt8], to path: String) throws(FileError) {
        var status = stat()
        do throws(FileError) {
            try FileError.wrapping(.write, path) { () throws(SystemError) in
                try systemCall("stat") { stat(path, &status) }
            }
        } catch {
            guard error.code == ENOENT else { throw error }
            return try create(path, bytes)
        }
        guard kind(status) == S_IFREG else { return try overwrite(path, bytes, 0) }
        // `/dev/stdout` may be a file that the shell opened to append. Then the bytes go to its descriptor.
        guard !isStandardOutput(status) else {
            return try FileError.wrapping(.write, path) { () throws(SystemError) in
                try writeAll(bytes, to: STDOUT_FILENO)
            }
        }
        let attributes = AtomicFile.Attributes(
            mode: status.st_mode & 0o7777, owner: status.st_uid, group: status.st_gid)
        do throws(FileError) {
            try AtomicFile.replace(AtomicFile.resolved(path), by: bytes, attributes)
        } catch {
            guard error.code == EPERM || error.code == EACCES else { throw error }
            try overwrite(path, bytes, O_TRUNC)
        }
    }

    private static func create(_ path: String, _ bytes: [UInt8]) throws(FileError) {
        var link = stat()
        // The target of the link does not exist and is created.
        if lstat(path, &link) == 0 { return try overwrite(path, bytes, O_CREAT | O_TRUNC) }
        let mask = umask(0)
        umask(mask)
        try AtomicFile.replace(path, by: bytes, AtomicFile.Attributes(mode: 0o644 & ~mask))
    }

    private static func overwrite(_ path: String, _ bytes: [UInt8], _ flags: CInt) throws(FileError) {
        try FileError.wrapping(.write, path) { () throws(SystemError) in
            let descriptor = try systemCall("open") { open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags, 0o644) }
            do throws(SystemError) {
                try writeAll(bytes, to: descriptor)
            } catch {
                close(descriptor)
                throw error
            }
            try closeWritten(descriptor)
        }
    }

    private static func isStandardOutput(_ status: stat) -> Bool {
        var output = stat()
        return fstat(STDOUT_FILENO, &output) == 0 && output.st_dev == status.st_dev && output.st_ino == status.st_ino
    }
}
