import Base
import Shell
import System

/// The wall clock, which stamps the messages.
enum ClockCheck {
    static func findings() -> [DoctorFinding] {
        let time = TimeText.utc(Clocks.wallSeconds())
        let isKnown = WallClockTrustPolicy.read().isKnown
        switch Clocks.wallClockTrust() {
        case .synchronised: return [DoctorFinding(.clock, "\(time) UTC, synchronised by a time service")]
        case .plausible where isKnown: return [DoctorFinding(.clock, "\(time) UTC, not confirmed by a time service")]
        case .plausible:
            return [
                DoctorFinding(
                    .clock,
                    "\(time) UTC, not yet set by a time service; messages wait for it, at most three minutes",
                    remedy: "wait, or: timedatectl status")
            ]
        case .unset:
            return [
                DoctorFinding(
                    .clock, "\(time) UTC: the clock has not been set; messages wait for it",
                    remedy: "sudo timedatectl set-ntp true, and check that the network allows NTP")
            ]
        }
    }
}
