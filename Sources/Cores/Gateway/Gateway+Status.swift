package import Base
package import Beacon
import Configuration
import OwnTracks
package import Presence
package import Regions

extension Gateway {
    /// The most regions of one beacon that are named. A beacon may belong to any number of regions.
    package static let mostNamedRegions = 20

    /// For each of these regions the beacon that decides whether the region is occupied.
    package func decidingBeacons(
        of regions: some Sequence<RegionKey>, at now: MonotonicInstant
    ) -> [RegionKey: PresenceExplanation] {
        engine.decidingBeacons(of: regions, at: now)
    }

    /// The state of every beacon of a region.
    package func explain(_ key: RegionKey, at now: MonotonicInstant) -> [PresenceExplanation] {
        engine.explain(key, at: now)
    }

    /// The number of regions that a beacon belongs to.
    package func regionCount(of beacon: BeaconID) -> Int { engine.regionCount(of: beacon) }

    /// The patterns of the regions that a beacon belongs to, each once: at most four.
    package func patterns(of beacon: BeaconID) -> [BeaconPattern] { engine.patterns(of: beacon) }

    /// The names of the regions that a beacon belongs to, one for each region: at most `mostNamedRegions`.
    package func regionNames(of beacon: BeaconID) -> [String] {
        engine.regions(of: beacon, most: Self.mostNamedRegions).compactMap { key in
            trackers.indices.contains(key.tracker) ? trackers[key.tracker].regions[rid: key.rid]?.displayName : nil
        }
    }

    /// The name of a region that a beacon belongs to; of several, the alphabetically first.
    package func regionName(of beacon: BeaconID) -> String? { regionNames(of: beacon).min() }

    /// The region whose beacons were turned away last, within ten minutes, because there are too many.
    package func crowdedRegion(at now: MonotonicInstant) -> CrowdedRegion? {
        guard let last = engine.lastTurnedAway, last.instant.duration(to: now) < .seconds(600) else { return nil }
        return crowdedRegion(last.region)
    }

    /// nil if the region does not exist any more.
    func crowdedRegion(_ key: RegionKey) -> CrowdedRegion? {
        guard trackers.indices.contains(key.tracker) else { return nil }
        let tracker = trackers[key.tracker]
        return tracker.regions[rid: key.rid].map { CrowdedRegion(topic: tracker.topics.base, region: $0.displayName) }
    }

    /// Whether the region still exists.
    package func has(_ key: RegionKey) -> Bool {
        trackers.indices.contains(key.tracker) && trackers[key.tracker].regions[rid: key.rid] != nil
    }

    /// Why a beacon entered or left, for the log. Only this beacon is examined.
    func reason(
        for beacon: BeaconID, in key: RegionKey, of region: Region, at now: MonotonicInstant
    ) -> String {
        let explanation = engine.explain(beacon, in: key, at: now)
        return RegionExplanation.text(
            explanation, threshold: threshold(of: region), battery: battery(of: beacon), at: now)
    }

    /// The strength that a region requires; nil: any.
    package func threshold(of region: Region) -> RSSI? {
        region.enterRSSI ?? configuration.enterRSSI ?? region.leaveRSSI ?? configuration.leaveRSSI
    }
}
