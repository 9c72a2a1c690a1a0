package import Base
package import Runtime
import System

/// The event loop as `EventHost`, for scanners and the status page.
package final class LoopHost: EventHost {
    private let loop: EventLoop
    private let log: Log
    /// Whether everything else that is ready is handled first.
    private let goesLast: Bool

    package init(loop: EventLoop, log: Log, goesLast: Bool = false) {
        self.loop = loop
        self.log = log
        self.goesLast = goesLast
    }

    package var now: MonotonicInstant { Clocks.now() }

    package func whenReadable(_ descriptor: CInt, _ handler: @escaping () -> Void) -> any EventRegistration {
        let registration = LoopRegistration()
        registration.attach(log, "watch a descriptor") { () throws(SystemError) in
            let watch = try loop.watch(descriptor) { _ in handler() }
            if goesLast { try watch.goLast() }
            return watch
        }
        return registration
    }

    package func at(_ instant: MonotonicInstant, _ handler: @escaping () -> Void) -> any EventRegistration {
        // The timer must outlive this call and end when it has fired: the token owns it, and it owns the registration.
        let registration = LoopRegistration()
        registration.attach(log, "set a timer") { () throws(SystemError) in
            let timer = try loop.timer { _ in
                registration.cancel()
                handler()
            }
            if goesLast { try timer.goLast() }
            try timer.arm(at: instant)
            return timer
        }
        return registration
    }
}

/// Owns one registration with the loop until it is cancelled.
private final class LoopRegistration: EventRegistration {
    private var registration: AnyObject?

    func attach(_ log: Log, _ action: String, _ register: () throws(SystemError) -> AnyObject) {
        do throws(SystemError) {
            registration = try register()
        } catch {
            log.error("cannot \(action): \(error)")
        }
    }

    func cancel() { registration = nil }
}
