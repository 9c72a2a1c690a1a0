import Base
import Configuration
import Glibc
import OwnTracks
import Regions
import Shell
import Storage
import System

extension DoctorChecks {
    static func clock() -> [DoctorFinding] {
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
                    cure: "wait, or: timedatectl status")
            ]
        case .unset:
            return [
                DoctorFinding(
                    .clock, "\(time) UTC: the clock has not been set; messages wait for it",
                    cure: "sudo timedatectl set-ntp true, and check that the network allows NTP")
            ]
        }
    }

    static func regions(_ settings: Settings) -> [DoctorFinding] {
        var set = RegionSet()
        for tracker in settings.configuration.trackers { set.apply(tracker.waypoints.changes) }
        do {
            let stored = try StoreReader(directory: settings.stateDirectory).regions()
            // Regions of earlier topics stay stored, but no tracker uses them.
            for tracker in settings.configuration.trackers {
                let regions = stored[tracker.topics.base]?.regions ?? []
                set.apply(regions.map { .set($0, isRIDDerived: false) })
            }
        } catch {
            // The check of the disk says why the state cannot be read.
            guard !set.regions.isEmpty else { return [noRegions(isReadable: isAbsent(error))] }
        }
        let beacons = set.regions.count { $0.description.pattern != nil }
        guard beacons > 0 else { return [noRegions(isReadable: true)] }
        return [DoctorFinding(.regions, beacons == 1 ? "one beacon region" : "\(beacons) beacon regions")]
    }

    private static func noRegions(isReadable: Bool) -> DoctorFinding {
        guard isReadable else {
            return DoctorFinding(.regions, "the regions cannot be read", cure: "see the check of the disk below")
        }
        return DoctorFinding(
            .regions, "there is no beacon region, so there are no transitions",
            cure:
                "see who is near with: ibeacon-gateway scan; then: ibeacon-gateway regions add NAME:UUID[:MAJOR[:MINOR]]"
        )
    }

    private static func isAbsent(_ error: any Error) -> Bool {
        if case .absent = error as? StoreError { true } else { false }
    }

    static func disk(_ settings: Settings) -> [DoctorFinding] {
        let directory = settings.stateDirectory
        guard FileAccess.exists(directory) else {
            return [DoctorFinding(.disk, "\(directory) does not exist yet; the service creates it")]
        }
        return [room(directory)] + state(directory, at: Clocks.wallSeconds())
    }

    /// Smallest free space, bytes. The state is small, but a disk with less space is soon filled by other programs.
    private static let leastRoom: UInt64 = 50 << 20

    private static func room(_ directory: String) -> DoctorFinding {
        var information = statvfs()
        guard statvfs(directory, &information) == 0 else {
            return DoctorFinding(
                .disk, "\(directory): \(FileAccess.lastError)", cure: "run: sudo ibeacon-gateway doctor")
        }
        let free = UInt64(information.f_bavail) * UInt64(information.f_frsize)
        if UInt(information.f_flag) & UInt(ST_RDONLY) != 0 {
            return DoctorFinding(
                .disk, "the file system of \(directory) is read-only",
                cure: "a worn card becomes read-only: check journalctl -k, and have a new card ready")
        }
        guard free >= leastRoom, information.f_ffree > 0 || information.f_files == 0 else {
            return DoctorFinding(
                .disk, "only \(free >> 20) MiB are free at \(directory)",
                cure: "make room: sudo journalctl --vacuum-size=50M")
        }
        return DoctorFinding(.disk, "\(free >> 20) MiB are free at \(directory)")
    }

    /// Seconds for which a refused message is a problem to fix.
    private static let refusalLasts: Int64 = 86_400

    /// - Parameter now: Epoch seconds.
    static func state(_ directory: String, at now: Int64) -> [DoctorFinding] {
        do {
            let summary = try StoreReader(directory: directory).summary(since: now - refusalLasts)
            let waiting = summary.waiting.values.reduce(0, +)
            let kept = DoctorFinding(
                .disk, "\(waiting) messages wait for the broker, \(summary.transitions) transitions are kept")
            return [refusals(summary), kept].compactMap { $0 }
        } catch StoreError.absent {
            return []
        } catch {
            let cure =
                geteuid() == 0
                ? "stop the service, and move that file away; the service creates a new one"
                : "run: sudo ibeacon-gateway doctor"
            return [DoctorFinding(.disk, "the state cannot be read: \(error)", cure: cure)]
        }
    }

    /// The messages that the broker refused; nil: none is kept.
    private static func refusals(_ summary: StoreSummary) -> DoctorFinding? {
        guard let latest = summary.refused.first else { return nil }
        let remedy = "fix the reason that the broker gives; new messages are not delayed"
        func refused(_ count: Int, _ age: String) -> String {
            let messages = count == 1 ? "one message" : "\(count) messages"
            return "the broker refused \(messages)\(age), the latest: \(latest.reason)"
        }
        guard summary.recentlyRefused > 0 else {
            let text = refused(summary.refusedRows, ", none in the last day")
            return DoctorFinding(.disk, text, advice: "if it still refuses such messages: \(remedy)")
        }
        return DoctorFinding(.disk, refused(summary.recentlyRefused, " in the last day"), cure: remedy)
    }
}
