import Base
import Beacon
import CMosquitto
import Glibc

/// Wakes the broker's thread from its poll: an eventfd that any thread may ring.
struct Bell: ~Copyable, Sendable {
    let descriptor: Int32

    /// - Throws: when the process has no descriptors left.
    init() throws(BrokerFailure) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw .other("eventfd: \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

    func ring() {
        var one: UInt64 = 1
        // It fails only when it has been rung 2^64 times unheard.
        _ = write(descriptor, &one, 8)
    }

    /// Waits for the bell to be rung, at most until then. false: it was not.
    func wait(until end: MonotonicInstant) -> Bool {
        repeat {
            var watched = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
            if poll(&watched, 1, MonotonicInstant.now.milliseconds(until: end)) == 1 { return true }
            // A signal may have cut it short.
        } while .now < end
        return false
    }

    func silence() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
