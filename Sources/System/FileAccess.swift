import Glibc

/// Reading and writing whole files.
package enum FileAccess {
    /// Configuration and region files are small; what is larger is something else.
    package static let largestFile = 64 << 20

    /// The bytes of a file; `-` is standard input.
    package static func read(_ path: String) throws(Failure) -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(errno == EACCES ? .noPermission : .noInput, "cannot read \(path): \(lastError)")
        }
        defer { if path != "-" { close(descriptor) } }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure(.inputOutput, "cannot read \(path): \(lastError)") }
            guard count > 0 else { return bytes }
            bytes += buffer[0..<count]
            guard bytes.count <= largestFile else {
                throw Failure(.badData, "\(path) has more than \(largestFile >> 20) MiB; that is no file for this")
            }
        }
    }

    /// Writes a file so that a reader sees the old one or the new one, whole; `-` is standard output.
    package static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
        guard path != "-" else {
            // A reader that has gone away is no failure of this program.
            _ = writeAll(bytes, to: STDOUT_FILENO)
            return
        }
        let temporary = "\(path).new-\(getpid())"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Failure(.cannotCreate, "cannot create \(path): \(lastError)") }
        let isWritten = Self.writeAll(bytes, to: descriptor) && fsync(descriptor) == 0
        let reason = lastError
        close(descriptor)
        guard isWritten, rename(temporary, path) == 0 else {
            let last = isWritten ? lastError : reason
            unlink(temporary)
            throw Failure(.inputOutput, "cannot write \(path): \(last)")
        }
    }

    /// Makes a directory that only its owner and group may enter, and those above it; one that is there stays.
    package static func createDirectory(_ path: String) throws(Failure) {
        var prefix = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            prefix += prefix.isEmpty || prefix.hasSuffix("/") ? String(part) : "/\(part)"
            guard mkdir(prefix, 0o750) == 0 || errno == EEXIST || exists(prefix) else {
                throw Failure(.cannotCreate, "cannot create \(path): \(lastError)")
            }
        }
    }

    private static func writeAll(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
        var offset = 0
        while offset < bytes.count {
            let written = bytes.withUnsafeBytes { buffer in
                Glibc.write(descriptor, buffer.baseAddress.map { $0 + offset }, bytes.count - offset)
            }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return false }
            offset += written
        }
        return true
    }

    /// Whether people other than owner and group can read the file.
    package static func isWorldReadable(_ path: String) -> Bool {
        var information = stat()
        guard stat(path, &information) == 0 else { return false }
        return information.st_mode & S_IROTH != 0
    }

    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// What the last failed call of the system said.
    package static var lastError: String { String(cString: strerror(errno)) }

    /// A path that stands in a file, as that file's directory sees it.
    package static func resolve(_ path: String, beside file: String?) -> String {
        guard !path.hasPrefix("/"), let file, let slash = file.lastIndex(of: "/") else { return path }
        return file[...slash] + path
    }
}
