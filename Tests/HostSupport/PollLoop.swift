package import Base
import Glibc

/// The smallest event loop that a scanner or the status page can live on: poll() and a list of timers.
package final class PollLoop: EventHost {
    private final class Watch: EventRegistration {
        let descriptor: CInt
        let handler: () -> Void
        var isCancelled = false

        init(_ descriptor: CInt, _ handler: @escaping () -> Void) {
            self.descriptor = descriptor
            self.handler = handler
        }

        func cancel() { isCancelled = true }
    }

    private final class Timer: EventRegistration {
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

    package init() {}

    package var now: MonotonicInstant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    package func whenReadable(_ descriptor: CInt, _ handler: @escaping () -> Void) -> any EventRegistration {
        let watch = Watch(descriptor, handler)
        watches.append(watch)
        descriptors = []
        return watch
    }

    package func at(_ instant: MonotonicInstant, _ handler: @escaping () -> Void) -> any EventRegistration {
        let timer = Timer(instant, handler)
        timers.append(timer)
        nextTimer = min(nextTimer ?? instant, instant)
        return timer
    }

    /// Runs until `condition` holds, at most for `limit`.
    ///
    /// - Returns: Whether it holds.
    @discardableResult
    package func run(atMost limit: Duration, until condition: () -> Bool) -> Bool {
        let end = now.advanced(by: limit)
        while !condition() {
            guard now < end else { return false }
            turn(atMost: .milliseconds(10))
        }
        return true
    }

    /// One turn: waits for the next event, at most for `limit`, and calls its handler. A turn is cheap enough that a
    /// measurement measures the scanner.
    package func turn(atMost limit: Duration = .seconds(1)) {
        if descriptors.isEmpty || watches.contains(where: \.isCancelled) {
            watches.removeAll { $0.isCancelled }
            descriptors = watches.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        }
        let end = now.advanced(by: limit)
        let left = now.duration(to: min(nextTimer ?? end, end)).nanoseconds
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
