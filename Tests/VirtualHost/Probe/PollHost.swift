import Base
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
    private var descriptors: [pollfd] = []
    private var timers: [Timer] = []
    private var nextTimer: MonotonicInstant?

    var now: MonotonicInstant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    func whenReadable(_ descriptor: CInt, _ handler: @escaping () -> Void) -> any ScannerToken {
        let watch = Watch(descriptor, handler)
        watches.append(watch)
        descriptors = []
        return watch
    }

    func at(_ instant: MonotonicInstant, _ handler: @escaping () -> Void) -> any ScannerToken {
        let timer = Timer(instant, handler)
        timers.append(timer)
        nextTimer = min(nextTimer ?? instant, instant)
        return timer
    }

    /// One turn: waits for the next thing to happen and lets it happen. Cheap enough that what is measured is the
    /// scanner.
    func turn() {
        if descriptors.isEmpty || watches.contains(where: \.isCancelled) {
            watches.removeAll { $0.isCancelled }
            descriptors = watches.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        }
        let left = now.duration(to: nextTimer ?? now.advanced(by: .seconds(1))).nanoseconds
        poll(&descriptors, nfds_t(descriptors.count), CInt(max(0, min(1000, (left + 999_999) / 1_000_000))))
        for index in descriptors.indices where index < descriptors.count && descriptors[index].revents != 0 {
            // The handlers may add and cancel watches; then the list is made anew at the next turn.
            guard index < watches.count else { break }
            if !watches[index].isCancelled { watches[index].handler() }
        }
        let instant = now
        guard let nextTimer, nextTimer <= instant else { return }
        let due = timers.filter { $0.due <= instant && !$0.isCancelled }
        timers.removeAll { $0.due <= instant || $0.isCancelled }
        self.nextTimer = timers.map(\.due).min()
        for timer in due where !timer.isCancelled { timer.handler() }
    }
}
