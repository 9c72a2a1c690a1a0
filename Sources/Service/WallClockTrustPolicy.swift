import Base
import Beacon
package import Gateway
import Runtime
package import System

/// Whether the time of day can be believed.
///
/// A Pi without network time starts with the time of its last shutdown, which looks sound and is wrong.
/// So a plausible clock is believed only where no program is about to set it: no time service at work, or
/// one that had its chance since the machine started.
package enum WallClockTrustPolicy {
    /// How long after the start of the machine a time service is waited for.
    package static let patience: Duration = .seconds(180)
    /// Where systemd-timesyncd, chronyd and ntpd show that they are at work.
    private static let services = ["/run/systemd/timesync", "/run/chrony", "/run/ntpd.pid"]

    package static func read() -> WallClock {
        let now = Clocks.now()
        return WallClock(
            epochNanoseconds: Clocks.wallNanoseconds(), at: now,
            isKnown: isBelievable(
                Clocks.wallClockTrust(), sinceBoot: MonotonicInstant.zero.duration(to: now),
                hasTimeService: services.contains { FileAccess.exists($0) }))
    }

    package static func isBelievable(_ trust: WallClockTrust, sinceBoot: Duration, hasTimeService: Bool) -> Bool {
        switch trust {
        case .synchronised: true
        case .plausible: !hasTimeService || sinceBoot >= patience
        case .unset: false
        }
    }
}
