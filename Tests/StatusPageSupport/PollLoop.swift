package import Base
import Beacon
import Glibc
package import StatusPage

/// The smallest event loop that the status page can live on: poll and a list of timers.
package final class PollLoop: StatusPageHost {
    private final class Registration: StatusPageHostToken {
        let descriptor: CInt
        let due: MonotonicInstant?
        let handler: () -> Void
        var isCancelled = false

        init(descriptor: CInt, due: MonotonicInstant?, handler: @escaping () -> Void) {
            self.descriptor = descriptor
            self.due = due
            self.handler = handler
        }

        func cancel() { isCancelled = true }
    }

    private var registrations: [Registration] = []

    package init() {}

    package var now: MonotonicInstant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    package func whenReadable(_ descriptor: CInt, _ handler: @escaping () -> Void) -> any StatusPageHostToken {
        let registration = Registration(descriptor: descriptor, due: nil, handler: handler)
        registrations.append(registration)
        return registration
    }

    package func at(_ instant: MonotonicInstant, _ handler: @escaping () -> Void) -> any StatusPageHostToken {
        let registration = Registration(descriptor: -1, due: instant, handler: handler)
        registrations.append(registration)
        return registration
    }

    /// Runs until `condition` holds, at most for `limit`.
    ///
    /// - Returns: Whether it holds.
    @discardableResult
    package func run(atMost limit: Duration, until condition: () -> Bool) -> Bool {
        let end = now.advanced(by: limit)
        while !condition() {
            guard now < end else { return false }
            turn(until: end)
        }
        return true
    }

    private func turn(until end: MonotonicInstant) {
        registrations.removeAll { $0.isCancelled }
        let next = min(end, registrations.compactMap(\.due).min() ?? end)
        let watched = registrations.filter { $0.descriptor >= 0 }
        var polled = watched.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        let wait = max(0, min(10, now.duration(to: next).nanoseconds / 1_000_000))
        poll(&polled, nfds_t(polled.count), CInt(wait))
        for (registration, result) in zip(watched, polled) where result.revents != 0 && !registration.isCancelled {
            registration.handler()
        }
        let time = now
        for registration in registrations {
            guard let due = registration.due, due <= time, !registration.isCancelled else { continue }
            registration.isCancelled = true
            registration.handler()
        }
    }
}
