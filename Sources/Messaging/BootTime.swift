import Base
import Beacon
import CMosquitto
import Glibc

extension MonotonicInstant {
    /// For the deadlines of the broker's thread, which decides nothing else by time.
    static var now: MonotonicInstant {
        var time = timespec()
        // It fails only for an unknown clock or a bad pointer.
        _ = clock_gettime(CLOCK_BOOTTIME, &time)
        return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// For `poll`: rounded up, so that it does not return early; 0 if it has passed.
    func milliseconds(until end: MonotonicInstant) -> Int32 {
        guard end > self else { return 0 }
        return Int32(clamping: (duration(to: end).nanoseconds + 999_999) / 1_000_000)
    }
}
