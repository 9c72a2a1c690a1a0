import Base
import Glibc
import JSON
import System

/// The files that setup writes.
enum SetupFiles {
    /// Makes a directory, unless it is there.
    ///
    /// - Throws: `noPermission` if no file can be made in it, or in the nearest one above it that is there.
    static func prepare(_ directory: String) throws(Failure) {
        var place = directory
        while !FileAccess.exists(place), !["/", "."].contains(place) { place = self.directory(of: place) }
        guard access(place, W_OK) == 0 else { throw unwritable(place, because: errno) }
        try FileAccess.createDirectory(directory)
    }

    /// - Parameter code: Of the system. Another user may write only where the reason is a missing right.
    static func unwritable(_ directory: String, because code: CInt) -> Failure {
        let reason = [EACCES, EPERM].contains(code) ? "; run: sudo ibeacon-gateway setup" : ": \(systemMessage(code))"
        return Failure(.noPermission, "\(directory) cannot be written\(reason)")
    }

    /// Gives a directory of root's group to the group of the service, which may read it, as the package does. Files that
    /// root makes in it get that group. A directory of another group belongs to a service of another user, and stays.
    /// Does nothing on a machine without the group, and for users other than root.
    ///
    /// - Returns: What the user must know; nil if all is well.
    static func share(_ directory: String, with group: String) -> String? {
        var status = stat()
        guard geteuid() == 0, let entry = getgrnam(group), stat(directory, &status) == 0, status.st_gid == 0 else {
            return nil
        }
        guard chown(directory, 0, entry.pointee.gr_gid) == 0, chmod(directory, 0o2750) == 0 else {
            return "\(directory) cannot be given to the group \(group), so the service may not read it: "
                + "\(FileAccess.lastError)"
        }
        return nil
    }

    /// Replaces a file that may contain a secret. Its owner may write it. The group of its directory, which is the
    /// group of the service, may read it.
    static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
        let path = try replaceable(path)
        var attributes = AtomicFile.Attributes(mode: 0o640)
        var directory = stat()
        // Only root can change the owner of a file, and only root writes files for a service of another user.
        if geteuid() == 0, stat(AtomicFile.directory(of: path), &directory) == 0 {
            (attributes.owner, attributes.group) = (0, directory.st_gid)
        }
        try replace(path, by: bytes, attributes)
    }

    /// Copies a file before it is replaced. The file stays in its place, so that it is there if the new one cannot be
    /// written. Earlier copies stay, too.
    ///
    /// - Returns: The path of the copy.
    static func keep(_ path: String) throws(Failure) -> String {
        let path = try replaceable(path)
        let bytes = try FileAccess.read(path)
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw Failure(.noInput, "cannot read \(path): \(FileAccess.lastError)")
        }
        var attributes = AtomicFile.Attributes(mode: status.st_mode & 0o777)
        if geteuid() == 0 { (attributes.owner, attributes.group) = (status.st_uid, status.st_gid) }
        let copy = path + ".old"
        if FileAccess.exists(copy), (try? FileAccess.read(copy)) != bytes { try number(copy) }
        try replace(copy, by: bytes, attributes)
        return copy
    }

    /// Gives an earlier copy a number, the first that is free: it may be the only one of what a person wrote.
    private static func number(_ copy: String) throws(Failure) {
        var number = 1
        while FileAccess.exists("\(copy).\(number)") { number += 1 }
        guard rename(copy, "\(copy).\(number)") == 0 else {
            throw Failure(.cannotCreate, "cannot rename \(copy): \(FileAccess.lastError)")
        }
    }

    private static func replace(
        _ path: String, by bytes: [UInt8], _ attributes: AtomicFile.Attributes
    ) throws(Failure) {
        try mapError({ $0.code == EROFS ? Failure(.noPermission, "\($0)") : Failure($0) }) { () throws(FileError) in
            try AtomicFile.replace(path, by: bytes, attributes)
        }
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
