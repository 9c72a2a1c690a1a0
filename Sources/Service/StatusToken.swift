import Glibc
import StatusPage
package import System

/// The token of the status page: a file in the state directory that only the service may read.
package enum StatusToken {
    package static func path(in directory: String) -> String { "\(directory)/status-token" }

    /// - Returns: nil if there is none yet.
    /// - Throws: if it cannot be read, or others can read it, too.
    package static func read(in directory: String) throws(Failure) -> String? {
        let path = path(in: directory)
        guard FileAccess.exists(path) else { return nil }
        let bytes = try FileAccess.read(path)
        guard !isReadableByOthers(path) else {
            throw Failure(.configuration, "others can read \(path); run: chmod 600 \(path)")
        }
        let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard line.utf8.count >= StatusServerSettings.shortestToken else {
            throw Failure(.configuration, "\(path) holds no token; remove it, and 'status --token' makes a new one")
        }
        return line
    }

    /// Makes one. Made by root, it belongs to whom the state directory belongs to: the service.
    package static func make(in directory: String) throws(Failure) -> String {
        // The system's generator is the kernel's getrandom(2).
        let digits = Array("0123456789abcdef")
        let token = String((0..<48).map { _ in digits[Int.random(in: 0..<16)] })
        let path = path(in: directory)
        let temporary = "\(path).new-\(getpid())"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Failure(
                errno == EACCES ? .noPermission : .cannotCreate, "cannot create \(path): \(FileAccess.lastError)")
        }
        defer { close(descriptor) }
        let line = Array((token + "\n").utf8)
        var owner = stat()
        let isRoot = geteuid() == 0 && stat(directory, &owner) == 0
        let isWritten =
            write(descriptor, line, line.count) == line.count && fsync(descriptor) == 0
            && (!isRoot || fchown(descriptor, owner.st_uid, owner.st_gid) == 0)
        guard isWritten, rename(temporary, path) == 0 else {
            let reason = FileAccess.lastError
            unlink(temporary)
            throw Failure(.inputOutput, "cannot write \(path): \(reason)")
        }
        return token
    }

    private static func isReadableByOthers(_ path: String) -> Bool {
        var information = stat()
        return stat(path, &information) == 0 && information.st_mode & 0o077 != 0
    }
}
