package import Base

/// Time that moves only when the test says so, and descriptors that are readable when it says so.
package final class ManualHost: EventHost {
    private final class Registration: EventRegistration {
        var isCancelled = false
        func cancel() { isCancelled = true }
    }

    package var now = MonotonicInstant.zero
    private var timers: [(due: MonotonicInstant, registration: Registration, handler: () -> Void)] = []
    private var watches: [(descriptor: CInt, registration: Registration, handler: () -> Void)] = []

    package init() {}

    package func whenReadable(_ descriptor: CInt, _ handler: @escaping () -> Void) -> any EventRegistration {
        let registration = Registration()
        watches.append((descriptor, registration, handler))
        return registration
    }

    package func at(_ instant: MonotonicInstant, _ handler: @escaping () -> Void) -> any EventRegistration {
        let registration = Registration()
        timers.append((instant, registration, handler))
        return registration
    }

    /// Calls the handlers of this descriptor.
    package func becomeReadable(_ descriptor: CInt) {
        for watch in watches where watch.descriptor == descriptor && !watch.registration.isCancelled {
            watch.handler()
        }
        watches.removeAll { $0.registration.isCancelled }
    }

    /// Lets time pass, and calls each handler when it is due.
    package func advance(by duration: Duration) {
        let end = now.advanced(by: duration)
        while let next = timers.filter({ !$0.registration.isCancelled && $0.due <= end }).min(by: {
            $0.due < $1.due
        }) {
            now = max(now, next.due)
            next.registration.cancel()
            next.handler()
        }
        timers.removeAll { $0.registration.isCancelled }
        now = end
    }
}
