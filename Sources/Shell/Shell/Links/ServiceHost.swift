package import Base
package import System

/// The clocks and timers of a service. In the process the event loop provides them; in unit tests the test advances the
/// time.
package protocol ServiceHost: AnyObject {
    /// CLOCK_BOOTTIME.
    var now: MonotonicInstant { get }
    /// The total suspended time of the machine since boot.
    var suspended: Duration { get }
    /// The wall clock, and whether it can be trusted.
    var wallClock: WallClock { get }
    /// The boot that `now` counts from.
    var bootID: String { get }
    /// As `Hardware.digest` returns it.
    var hardware: String? { get }
    /// Makes a timer that is off until it is armed. It fires once per arming.
    ///
    /// - Parameters:
    ///   - tolerance: How much later the timer may fire, so that several timers share one wake-up.
    ///   - isLast: Whether everything else that is ready at the same time is handled first.
    func timer(
        tolerance: Duration, isLast: Bool, _ handler: @escaping (MonotonicInstant) -> Void
    ) -> any ServiceTimer
    /// Reports to the service manager.
    func report(_ phase: ServicePhase)
    /// Returns memory to the system that is allocated and not in use. It takes milliseconds.
    func releaseMemory()
    /// Ends the service after the running handler.
    func exit(_ code: ExitCode)
}

extension ServiceHost {
    package func timer(
        tolerance: Duration = .milliseconds(10), _ handler: @escaping (MonotonicInstant) -> Void
    ) -> any ServiceTimer {
        timer(tolerance: tolerance, isLast: false, handler)
    }
}
