/// What scanners and the status page need of the event loop. The program gives it to them, so that they know no loop.
///
/// All calls, also those of handlers, come on the loop's thread.
package protocol EventHost: AnyObject {
    /// CLOCK_BOOTTIME.
    var now: MonotonicInstant { get }
    /// Calls `handler` whenever the descriptor can be read, until the registration is cancelled.
    func whenReadable(_ descriptor: CInt, _ handler: @escaping () -> Void) -> any EventRegistration
    /// Calls `handler` once, not before `instant`, unless the registration is cancelled.
    func at(_ instant: MonotonicInstant, _ handler: @escaping () -> Void) -> any EventRegistration
}

/// A registration with the event loop. Dropping it does not cancel it.
package protocol EventRegistration: AnyObject {
    func cancel()
}
