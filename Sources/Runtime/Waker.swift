import CSystemd
import Glibc

/// Wakes an event loop from any thread. Cheap, never blocks, and safe after the loop has gone.
package final class Waker: Sendable {
    let descriptor: Int32

    init() throws(SystemError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw SystemError("eventfd", code: errno) }
    }

    deinit { close(descriptor) }

    /// Has the loop call the handler soon; any number of wake-ups before that are one call.
    package func wake() {
        var one: UInt64 = 1
        // EAGAIN says that 2^64 - 2 wake-ups are pending, and one is all that is needed.
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    }
}

/// The loop's end of a waker, until this object goes.
package final class WakerWatch {
    /// The end to hand to other threads.
    package let waker: Waker
    private let watch: DescriptorWatch

    init(loop: EventLoop, handler: @escaping () -> Void) throws(SystemError) {
        let waker = try Waker()
        self.waker = waker
        watch = try loop.watch(waker.descriptor) { _ in
            // Cleared first: a wake-up that comes while the handler runs is then not lost.
            waker.clear()
            handler()
        }
    }
}
