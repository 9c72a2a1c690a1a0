import Glibc
import JSON
import OwnTracks
import System

/// What setup writes.
enum SetupFiles {
    /// Replaces a file that may hold a secret: its owner may write it, and the group of its directory, which is the
    /// service's, may read it.
    static func write(_ text: String, to path: String) throws(Failure) {
        let temporary = "\(path).new-\(getpid())"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            let code: ExitCode = errno == EACCES || errno == EROFS ? .noPermission : .cannotCreate
            throw Failure(code, "cannot create \(path): \(FileAccess.lastError)")
        }
        var directory = stat()
        // Only root can give a file away, and only root writes where the service is another user.
        if geteuid() == 0, stat(self.directory(of: path), &directory) == 0 {
            _ = fchown(descriptor, 0, directory.st_gid)
        }
        let bytes = Array(text.utf8)
        let count = Glibc.write(descriptor, bytes, bytes.count)
        let isWritten = count == bytes.count && fchmod(descriptor, 0o640) == 0 && fsync(descriptor) == 0
        let reason = FileAccess.lastError
        close(descriptor)
        guard isWritten, rename(temporary, path) == 0 else {
            let last = isWritten ? FileAccess.lastError : reason
            unlink(temporary)
            throw Failure(.inputOutput, "cannot write \(path): \(last)")
        }
    }

    /// Keeps a file beside its successor.
    /// - Returns: where it is now.
    static func keep(_ path: String) throws(Failure) -> String {
        let old = path + ".old"
        guard rename(path, old) == 0 else {
            throw Failure(.cannotCreate, "cannot rename \(path): \(FileAccess.lastError)")
        }
        return old
    }

    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// A configuration file of what was answered, in the order of the answers.
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
