import Beacon
import Glibc
import Scanning

/// The smallest loop that a scanner can live on: poll() and a list of timers.
final class PollHost: ScannerHost {
    private final class Watch: ScannerToken {
        let descriptor: CInt
        let handler: () -> Void
        var isCancelled = false

        init(_ descriptor: CInt, _ handler: @escaping () -> Void) {
            self.descriptor = descriptor
            self.handler = handler
        }

        func cancel() { isCancelled = true }
    }

    private final class Timer: ScannerToken {
        let due: MonotonicInstant
        let handler: () -> Void
        var isCancelled = false

        init(_ due: MonotonicInstant, _ handler: @escaping () -> Void) {
            self.due = due
            self.handler = handler
        }

        func cancel() { isCancelled = true }
    }

    private var watches: [Watch] = []
    private var timers: [Timer] = []

    var now: MonotonicInstant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    func whenReadable(_ descriptor: CInt, _ handler: @escaping () -> Void) -> any ScannerToken {
        let watch = Watch(descriptor, handler)
        watches.append(watch)
        return watch
    }

    func at(_ instant: MonotonicInstant, _ handler: @escaping () -> Void) -> any ScannerToken {
        let timer = Timer(instant, handler)
        timers.append(timer)
        return timer
    }

    /// One turn: waits for the next thing to happen and lets it happen.
    func turn() {
        watches.removeAll { $0.isCancelled }
        timers.removeAll { $0.isCancelled }
        let next = timers.map(\.due).min() ?? now.advanced(by: .seconds(1))
        let wait = max(0, min(1000, (now.duration(to: next).nanoseconds + 999_999) / 1_000_000))
        var descriptors = watches.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        let polled = watches
        poll(&descriptors, nfds_t(descriptors.count), CInt(wait))
        for (watch, descriptor) in zip(polled, descriptors) where descriptor.revents != 0 && !watch.isCancelled {
            watch.handler()
        }
        let instant = now
        for timer in timers.filter({ $0.due <= instant }) where !timer.isCancelled {
            timer.isCancelled = true
            timer.handler()
        }
    }
}
