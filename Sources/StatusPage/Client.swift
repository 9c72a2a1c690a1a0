import Base
import Beacon
import Glibc

/// One connection.
final class Client {
    let descriptor: CInt
    /// When it is dropped unless it gets on; nil while it waits for us.
    ///
    /// The library's own time-out begins anew with every byte, so a client that trickles would stay for ever.
    var deadline: MonotonicInstant?
    var stream: EventStream?
    /// It was answered and has asked for nothing else yet: closing it is no reproach.
    var isIdle = false

    init(descriptor: CInt, deadline: MonotonicInstant) {
        self.descriptor = descriptor
        self.deadline = deadline
        // A peer that vanished without a word is noticed as soon as something was sent to it.
        var milliseconds: CUnsignedInt = 30_000
        setsockopt(
            descriptor, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds,
            socklen_t(MemoryLayout<CUnsignedInt>.size))
        // Else the kernel keeps up to 4 MB for each client that does not read.
        var bytes: CInt = 64 * 1024
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Breaks the connection; the library notices by itself and closes it.
    func drop() {
        shutdown(descriptor, CInt(SHUT_RDWR))
    }
}

/// A request while its body arrives.
final class PendingRequest {
    /// The longest body that is kept, in bytes.
    private let longestBody: Int
    private(set) var body: [UInt8] = []
    private(set) var isTooLong = false

    init(longestBody: Int) { self.longestBody = longestBody }

    func append(_ bytes: UnsafeRawBufferPointer) {
        guard body.count + bytes.count <= longestBody else {
            isTooLong = true
            return
        }
        body.append(contentsOf: bytes)
    }
}
