import Base
import Configuration
import Gateway
import OwnTracks
import Regions
import Shell
import Storage

/// The regions that the trackers have.
enum RegionsCheck {
    /// - Parameter hasSite: Whether a rooms service lists tags for this gateway, which then needs no regions of its own.
    static func findings(_ settings: Settings, hasSite: Bool = false) -> [DoctorFinding] {
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

    /// What is said about regions that no beacon enters although their author may expect it. They may be intended.
    private static func remarks(on regions: [Region]) -> [DoctorFinding] {
        let all = regions.compactMap { region in region.remark.map { (region.displayName, $0) } }
        let named = all.prefix(mostNamedRegions).map { name, remark in
            DoctorFinding(
                .regions, "'\(name)' is no beacon region: \(remark)",
                advice: "if a beacon should enter it, send it again with its UUID and without a radius")
        }
        guard all.count > mostNamedRegions else { return named }
        let more = all.count - mostNamedRegions
        let text = more == 1 ? "1 other is no beacon region either" : "\(more) others are no beacon regions either"
        return named + [DoctorFinding(.regions, text, advice: "all are in: sudo ibeacon-gateway regions list")]
    }

    private static var siteAlone: DoctorFinding {
        DoctorFinding(.regions, "no beacon region of its own; it sends the readings of the site's tags")
    }

    private static func noRegions(isReadable: Bool) -> DoctorFinding {
        guard isReadable else {
            return DoctorFinding(.regions, "the regions cannot be read", remedy: "see the check of the disk below")
        }
        return DoctorFinding(
            .regions, "there is no beacon region, so there are no transitions",
            remedy:
                "see who is near with: sudo ibeacon-gateway scan; then: "
                + "sudo ibeacon-gateway regions add NAME:UUID[:MAJOR[:MINOR]]"
        )
    }

    private static func isAbsent(_ error: any Error) -> Bool {
        if case .absent = error as? StoreError { true } else { false }
    }
}
