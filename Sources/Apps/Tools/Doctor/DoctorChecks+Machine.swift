import Base
import Configuration
import Gateway
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

    /// - Parameter hasSite: Whether a rooms service lists tags for this gateway, which then needs no regions of its own.
    static func regions(_ settings: Settings, hasSite: Bool = false) -> [DoctorFinding] {
        // Two trackers may use the same keys for their regions.
        var sets = settings.configuration.trackers.map { tracker in
            var set = RegionSet()
            set.apply(tracker.waypoints.changes)
            return set
        }
        do {
            let stored = try StoreReader(directory: settings.stateDirectory).regions()
            // Regions of earlier topics stay stored, but no tracker uses them.
            for (index, tracker) in settings.configuration.trackers.enumerated() {
                let regions = stored[tracker.topics.base]?.regions ?? []
                sets[index].apply(regions.map { .set($0, isRIDDerived: false) })
            }
        } catch {
            // The check of the disk says why the state cannot be read.
            guard sets.contains(where: { !$0.regions.isEmpty }) else {
                if hasSite, isAbsent(error) { return [siteAlone] }
                return [noRegions(isReadable: isAbsent(error))]
            }
        }
        let regions = sets.flatMap(\.regions)
        let beacons = regions.count(where: \.isBeacon)
        let others = remarks(on: regions)
        guard beacons > 0 || hasSite else { return [noRegions(isReadable: true)] + others }
        guard beacons > 0 else { return [siteAlone] + others }
        return [DoctorFinding(.regions, beacons == 1 ? "one beacon region" : "\(beacons) beacon regions")] + others
    }

    /// Regions that are named in the findings.
    private static let mostNamedRegions = 5

    /// What is said of regions that no beacon enters although their author may expect it. They may be intended.
    private static func remarks(on regions: [Region]) -> [DoctorFinding] {
        let all = regions.compactMap { region in region.remark.map { (region.displayName, $0) } }
        let named = all.prefix(mostNamedRegions).map { name, remark in
            DoctorFinding(
                .regions, "'\(name)' is no beacon region: \(remark)",
                advice: "if a beacon should enter it, send it again with its UUID and without a radius")
        }
        guard all.count > mostNamedRegions else { return named }
        let text = "\(all.count - mostNamedRegions) others are no beacon regions either"
        return named + [DoctorFinding(.regions, text, advice: "all are in: ibeacon-gateway regions list")]
    }

    private static var siteAlone: DoctorFinding {
        DoctorFinding(.regions, "no beacon region of its own; it sends the readings of the site's tags")
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
        guard !FileAccess.isMissing(directory) else {
            return [DoctorFinding(.disk, "\(directory) does not exist yet; the service creates it")]
        }
        let receiver = settings.configuration.broker.receiver
        return [room(directory)] + state(directory, receiver, at: Clocks.wallSeconds())
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

    /// - Parameters:
    ///   - receiver: `broker` or `server`.
    ///   - now: Epoch seconds.
    static func state(_ directory: String, _ receiver: String = "broker", at now: Int64) -> [DoctorFinding] {
        do {
            let summary = try StoreReader(directory: directory).summary(since: now - refusalLasts)
            let waiting = summary.waiting.values.reduce(0, +)
            let kept = DoctorFinding(
                .disk, "\(waiting) messages wait for the \(receiver), \(summary.transitions) transitions are kept")
            return [refusals(summary, receiver), kept].compactMap { $0 }
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

    /// The messages that the receiver refused; nil: none is kept.
    private static func refusals(_ summary: StoreSummary, _ receiver: String) -> DoctorFinding? {
        guard let latest = summary.refused.first else { return nil }
        let remedy = "fix the reason that the \(receiver) gives; new messages are not delayed"
        func refused(_ count: Int, _ age: String) -> String {
            let messages = counted(count, "message")
            return "the \(receiver) refused \(messages)\(age), the latest: \(latest.reason)"
        }
        guard summary.recentlyRefused > 0 else {
            let text = refused(summary.refusedRows, ", none in the last day")
            return DoctorFinding(.disk, text, advice: "if it still refuses such messages: \(remedy)")
        }
        return DoctorFinding(.disk, refused(summary.recentlyRefused, " in the last day"), cure: remedy)
    }
}
