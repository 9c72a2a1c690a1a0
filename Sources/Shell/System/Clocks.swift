package import Base
import CSystem
import Glibc

/// Reads the clocks of the system.
package enum Clocks {
    /// Now on CLOCK_BOOTTIME, which runs during suspend and never jumps.
    package static func now() -> MonotonicInstant {
        MonotonicInstant(nanoseconds: nanoseconds(CLOCK_BOOTTIME))
    }

    /// The time of a processor that this thread has had. A system call, while `now()` is none.
    package static func threadProcessorTime() -> Duration {
        .nanoseconds(nanoseconds(CLOCK_THREAD_CPUTIME_ID))
    }

    /// How long the machine has been suspended since it started. CLOCK_MONOTONIC does not run during suspend. The two
    /// clocks are read one after the other, so the result varies slightly.
    package static func suspended() -> Duration {
        let running = nanoseconds(CLOCK_MONOTONIC)
        return .nanoseconds(max(0, nanoseconds(CLOCK_BOOTTIME) - running))
    }

    /// Now on the wall clock, in nanoseconds since 1970 UTC; may jump at any time.
    package static func wallNanoseconds() -> Int64 {
        nanoseconds(CLOCK_REALTIME)
    }

    /// Now on the wall clock, in whole seconds since 1970 UTC; may jump at any time.
    package static func wallSeconds() -> Int64 {
        wallNanoseconds() / 1_000_000_000
    }

    /// The seconds by which the system's local time is ahead of UTC at these epoch seconds.
    package static func secondsEast(at epochSeconds: Int64) -> Int64 {
        var (time, parts) = (time_t(epochSeconds), tm())
        guard localtime_r(&time, &parts) != nil else { return 0 }
        return Int64(parts.tm_gmtoff)
    }

    /// How far the wall clock can be trusted now.
    package static func wallClockTrust() -> WallClockTrust {
        WallClockTrust(disciplined: isDisciplined() || isSetByTimesyncd(), wallSeconds: wallSeconds())
    }

    /// Whether the kernel reports that a time service controls the clock.
    private static func isDisciplined() -> Bool {
        var state = timex()
        // modes = 0 reads only. The kernel asks for no privilege, but systemd's ProtectClock= denies this call too.
        let result = adjtimex(&state)
        return result >= 0 && result != TIME_ERROR && state.status & STA_UNSYNC == 0
    }

    /// Whether systemd-timesyncd has set the clock since it started. A hardened unit can read this, and not the kernel's
    /// state of the clock.
    ///
    /// - Parameter mark: The file that systemd-timesyncd creates; see systemd-timesyncd.service(8).
    package static func isSetByTimesyncd(mark: String = "/run/systemd/timesync/synchronized") -> Bool {
        access(mark, F_OK) == 0
    }

    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        // Cannot fail: these clocks exist on every kernel this program can run on (Linux 2.6.39).
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
