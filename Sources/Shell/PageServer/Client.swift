import Base
import Glibc
import System

/// One connection.
final class Client {
    let descriptor: CInt
    /// The user who connected to a Unix socket; nil for a connection to a port.
    let user: uid_t?
    /// When the client is dropped unless it makes progress; nil while it waits for the server.
    ///
    /// The library's own time-out restarts with every byte, so a client that sends single bytes would never be dropped.
    var deadline: MonotonicInstant?
    var stream: EventStream?
    /// The last request was answered and no other has begun. Closing such a connection does not count as a drop.
    var isIdle = false

    init(descriptor: CInt, deadline: MonotonicInstant) {
        self.descriptor = descriptor
        self.deadline = deadline
        user = LocalSocket.peer(of: descriptor)
        // Detects a peer that disappeared without closing the connection, once data was sent to it.
        var milliseconds: CUnsignedInt = 30_000
        setsockopt(
            descriptor, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds,
            socklen_t(MemoryLayout<CUnsignedInt>.size))
        // Otherwise the kernel buffers up to 4 MB for each client that does not read.
        var bytes: CInt = 64 * 1024
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Shuts the connection down; the library detects this and closes it.
    func drop() {
        shutdown(descriptor, CInt(SHUT_RDWR))
    }
}
