/// The functions of the event loop that scanners and the status page use, so that they do not depend on the loop
/// itself.
///
/// All calls, also those of handlers, are made on the loop's thread.
package protocol EventHost: AnyObject {
    /// CLOCK_BOOTTIME.
    var now: MonotonicInstant { get }
    /// Calls `handler` whenever the descriptor can be read, until the registration is cancelled.
    func whenReadable(_ descriptor: CInt, _ handler: @escaping () -> Void) -> any EventRegistration
    /// Calls `handler` once, not before `instant`, unless the registration is cancelled.
    func at(_ instant: MonotonicInstant, _ handler: @escaping () -> Void) -> any EventRegistration
}
