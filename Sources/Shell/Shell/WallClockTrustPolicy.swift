package import Base
package import System

/// Whether the time of day can be trusted.
///
/// A Pi without network time starts with the time of its last shutdown, which is plausible and wrong. So a plausible
/// clock is trusted only if no program is about to set it: no time service is running, or the time service has had
/// enough time since the boot.
package enum WallClockTrustPolicy {
    /// How long after the boot the policy waits for a time service.
    package static let patience: Duration = .seconds(180)
    /// Paths that exist while systemd-timesyncd, chronyd or ntpd runs.
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
