import CSystemd
import Glibc
package import System

/// Reports when the wall clock was set (by a time service, an administrator or on wake-up), without polling. The kernel
/// cancels a timer armed with TFD_TIMER_CANCEL_ON_SET on every discontinuous change.
package final class WallClockWatch {
    private let descriptor: Int32
    private var watch: DescriptorWatch?

    /// - Parameter handler: called after each jump of CLOCK_REALTIME; slewing does not count.
    package init(loop: EventLoop, _ handler: @escaping () -> Void) throws(SystemError) {
        let descriptor = try systemCall("timerfd_create") {
            timerfd_create(CLOCK_REALTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
        }
        self.descriptor = descriptor
        do throws(SystemError) {
            try Self.arm(descriptor)
            watch = try loop.watch(descriptor) { _ in
                var expirations: UInt64 = 0
                // Reads ECANCELED after a jump; the timer must then be set again.
                _ = read(descriptor, &expirations, MemoryLayout<UInt64>.size)
                try? Self.arm(descriptor)
                handler()
            }
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit {
        watch = nil
        close(descriptor)
    }

    private static func arm(_ descriptor: Int32) throws(SystemError) {
        var never = itimerspec()
        // The kernel limits it to the last time that it can hold. A time in the past would fire at once, again and again.
        never.it_value.tv_sec = time_t.max
        let flags = Int32(TFD_TIMER_ABSTIME) | Int32(TFD_TIMER_CANCEL_ON_SET)
        try systemCall("timerfd_settime") { timerfd_settime(descriptor, flags, &never, nil) }
    }
}
