import Glibc
package import System

/// A secret in the state directory, in a file that only the service may read.
package enum PrivateFile {
    /// - Returns: nil if there is certainly no such file.
    /// - Throws: if the file cannot be read, or this process may not look whether there is one, is not a regular file of the directory's owner, or can be read by others.
    package static func read(_ name: String, in directory: String) throws(Failure) -> [UInt8]? {
        let path = "\(directory)/\(name)"
        guard !FileAccess.isMissing(path) else { return nil }
        try check(name, directory)
        let bytes = try FileAccess.read(path)
        guard !isReadableByOthers(path) else {
            throw Failure(.configuration, "others can read \(path); run: chmod 600 \(path)")
        }
        return bytes
    }

    /// Replaces the file. If root writes it, it belongs to the owner of the state directory: the service.
    package static func write(_ bytes: [UInt8], to name: String, in directory: String) throws(Failure) {
        try check(name, directory)
        var attributes = AtomicFile.Attributes(mode: 0o600)
        var owner = stat()
        if geteuid() == 0, stat(directory, &owner) == 0 {
            (attributes.owner, attributes.group) = (owner.st_uid, owner.st_gid)
        }
        do throws(FileError) {
            try AtomicFile.replace("\(directory)/\(name)", by: bytes, attributes)
        } catch {
            throw Failure(error)
        }
    }

    /// Removes the file, if there is one.
    package static func remove(_ name: String, in directory: String) throws(Failure) {
        guard unlink("\(directory)/\(name)") != 0, errno != ENOENT else { return }
        throw Failure(.inputOutput, "cannot remove \(directory)/\(name): \(FileAccess.lastError)")
    }

    static func check(_ name: String, _ directory: String) throws(Failure) {
        do throws(OwnershipError) {
            try OwnedDirectory(directory).check(name)
        } catch {
            throw Failure(.noPermission, "\(error)")
        }
    }

    private static func isReadableByOthers(_ path: String) -> Bool {
        var information = stat()
        return stat(path, &information) == 0 && information.st_mode & 0o077 != 0
    }
}
