package import Glibc

/// A Unix socket by its path, for the service that listens there and the commands that ask it.
package struct LocalSocket: Hashable, Sendable {
    package let path: String

    package init(_ path: String) { self.path = path }

    /// - Returns: A new socket; negative with `errno` on failure.
    package static func make(isBlocking: Bool = true) -> CInt {
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        return socket(AF_UNIX, kind | (isBlocking ? 0 : CInt(SOCK_NONBLOCK.rawValue)), 0)
    }

    /// - Returns: 0, or -1 with `errno`.
    package func connect(_ descriptor: CInt) -> CInt { withAddress { Glibc.connect(descriptor, $0, $1) } }

    /// Opens a listening socket. Every user may connect; `peer(of:)` identifies the user.
    ///
    /// A socket file that an ended service left behind is replaced.
    ///
    /// - Throws: `EADDRINUSE` if another process listens there.
    package func listen() throws(SystemError) -> CInt {
        let descriptor = Self.make(isBlocking: false)
        guard descriptor >= 0 else { throw SystemError("socket", code: errno) }
        var failed = "bind"
        var result = bindForAll(descriptor)
        if result != 0, errno == EADDRINUSE, isAbandoned {
            unlink(path)
            result = bindForAll(descriptor)
        }
        if result == 0 {
            failed = "listen"
            result = Glibc.listen(descriptor, 16)
        }
        guard result == 0 else {
            let code = errno
            close(descriptor)
            throw SystemError(failed, code: code)
        }
        return descriptor
    }

    /// Binds the socket, to which all users may connect, in one step. The mode is not changed by the name afterwards:
    /// whoever owns the directory could have put a link to another file there.
    ///
    /// The umask is that of the process. Every file that another thread creates meanwhile has a mode of its own.
    private func bindForAll(_ descriptor: CInt) -> CInt {
        let before = umask(0o111)
        let result = withAddress { bind(descriptor, $0, $1) }
        let code = errno
        umask(before)
        errno = code
        return result
    }

    /// Whether the path is a socket on which no process listens.
    private var isAbandoned: Bool {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return false }
        let descriptor = Self.make(isBlocking: false)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return connect(descriptor) != 0 && errno == ECONNREFUSED
    }

    /// The user at the other end: for a client the one who called listen(2), for a server the one who connected.
    ///
    /// - Returns: nil for a socket of another family.
    package static func peer(of descriptor: CInt) -> uid_t? {
        // `struct ucred` of unix(7), which the C library declares for GNU sources only: process, user, group.
        var credentials: (pid_t, uid_t, gid_t) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0, length == 12,
            credentials.1 != .max
        else { return nil }
        return credentials.1
    }

    /// The kernel accepts 107 bytes of a path. A longer path is reached through a descriptor of its directory.
    private func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        guard path.utf8.count > Self.longestPath else { return Self.withAddress(path, body) }
        let directory = open(AtomicFile.directory(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return -1 }
        let name = path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? ""
        let result = Self.withAddress("/proc/self/fd/\(directory)/\(name)", body)
        let code = errno
        close(directory)
        errno = code
        return result
    }

    private static let longestPath = 107

    private static func withAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        guard path.utf8.count <= longestPath else {
            errno = ENAMETOOLONG
            return -1
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
