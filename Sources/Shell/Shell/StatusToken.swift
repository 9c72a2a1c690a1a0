import Base
import Glibc
import PageServer
package import System

/// The token of the status page: a file in the state directory that only the service may read.
package enum StatusToken {
    private static let fileName = "status-token"

    package static func path(in directory: String) -> String { "\(directory)/\(fileName)" }

    /// - Returns: nil if there is no token yet.
    /// - Throws: if the file cannot be read, is not a regular file of the directory's owner, or can be read by others.
    package static func read(in directory: String) throws(Failure) -> String? {
        let path = path(in: directory)
        guard FileAccess.exists(path) else { return nil }
        try check(directory)
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

    /// Makes a token. If root makes it, the file belongs to the owner of the state directory: the service.
    package static func make(in directory: String) throws(Failure) -> String {
        // The system's generator uses the kernel's getrandom(2).
        let digits = Array("0123456789abcdef")
        let token = String((0..<48).map { _ in digits[Int.random(in: 0..<16)] })
        try check(directory)
        var attributes = AtomicFile.Attributes(mode: 0o600)
        var owner = stat()
        if geteuid() == 0, stat(directory, &owner) == 0 {
            (attributes.owner, attributes.group) = (owner.st_uid, owner.st_gid)
        }
        try mapError({ Failure($0) }) { () throws(FileError) in
            try AtomicFile.replace(path(in: directory), by: Array((token + "\n").utf8), attributes)
        }
        return token
    }

    private static func check(_ directory: String) throws(Failure) {
        try mapError({ Failure(.noPermission, "\($0)") }) { () throws(OwnershipError) in
            try OwnedDirectory(directory).check(fileName)
        }
    }

    private static func isReadableByOthers(_ path: String) -> Bool {
        var information = stat()
        return stat(path, &information) == 0 && information.st_mode & 0o077 != 0
    }
}
