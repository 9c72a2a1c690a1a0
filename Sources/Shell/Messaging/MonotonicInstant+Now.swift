import Base
import System

extension MonotonicInstant {
    /// For the deadlines of the broker's thread, which decides nothing else by time.
    static var now: MonotonicInstant { Clocks.now() }
}
