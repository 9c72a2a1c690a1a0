package import Base
import CSystem
import Glibc

/// Wakes an event loop, or another thread, from any thread. Cheap, never blocks, and safe after the loop has gone.
package final class Waker: Sendable {
    /// Readable while a wake-up is pending.
    package let descriptor: Int32

    /// - Throws: when the process has no descriptors left.
    package init() throws(SystemError) {
        descriptor = try systemCall("eventfd") { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) }
    }

    deinit { close(descriptor) }

    /// Makes the loop call the handler, or ends `wait`. Several wake-ups before that count as one.
    package func wake() {
        var one: UInt64 = 1
        // EAGAIN means that 2^64 - 2 wake-ups are pending; one is enough.
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Waits until a wake-up is pending. It stays pending.
    ///
    /// - Parameter end: nil for no limit.
    /// - Returns: false if none is pending at `end`.
    @discardableResult
    package func wait(until end: MonotonicInstant?) -> Bool {
        while true {
            let now = Clocks.now()
            var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&watched, 1, end.map(now.milliseconds(until:)) ?? -1) == 1 { return true }
            // A signal may have interrupted the call.
            if let end, Clocks.now() >= end { return false }
        }
    }

    /// Clears the pending wake-ups.
    package func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    }
}
