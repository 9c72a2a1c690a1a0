import Base
import Glibc
import JSON
import System

/// The files that setup writes.
enum SetupFiles {
    /// Replaces a file that may contain a secret. Its owner may write it. The group of its directory, which is the
    /// group of the service, may read it.
    static func write(_ text: String, to path: String) throws(Failure) {
        let path = try replaceable(path)
        var attributes = AtomicFile.Attributes(mode: 0o640)
        var directory = stat()
        // Only root can change the owner of a file, and only root writes files for a service of another user.
        if geteuid() == 0, stat(AtomicFile.directory(of: path), &directory) == 0 {
            (attributes.owner, attributes.group) = (0, directory.st_gid)
        }
        try mapError({ $0.code == EROFS ? Failure(.noPermission, "\($0)") : Failure($0) }) { () throws(FileError) in
            try AtomicFile.replace(path, by: Array(text.utf8), attributes)
        }
    }

    /// Renames a file before it is replaced.
    /// - Returns: The new path.
    static func keep(_ path: String) throws(Failure) -> String {
        let path = try replaceable(path)
        let old = path + ".old"
        guard rename(path, old) == 0 else {
            throw Failure(.cannotCreate, "cannot rename \(path): \(FileAccess.lastError)")
        }
        return old
    }

    /// The file that all links lead to.
    ///
    /// - Throws: If the path is a device, a FIFO or a directory. Setup must not replace these with a file.
    private static func replaceable(_ path: String) throws(Failure) -> String {
        let path = AtomicFile.resolved(path)
        var status = stat()
        guard lstat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.cannotCreate, "\(path) is not a regular file; setup replaces only regular files")
        }
        return path
    }

    static func directory(of path: String) -> String { AtomicFile.directory(of: path) }

    /// A configuration file with the answers, in their order.
    static func configuration(_ members: [(name: String, value: JSONValue)]) -> String {
        let lines = members.map { "    \($0.name): \($0.value.text)," }
        return """
            // Made by: ibeacon-gateway setup. All settings, explained: man ibeacon-gateway.json
            {
            \(lines.joined(separator: "\n"))
            }

            """
    }
}
