package import Base
package import Beacon
import Configuration
import JSON
import OwnTracks
package import Presence
package import Regions

extension Gateway {
    /// For each region the beacon that decides whether somebody is inside.
    package func decidingBeacons(at now: MonotonicInstant) -> [RegionKey: PresenceExplanation] {
        engine.decidingBeacons(at: now)
    }

    /// What is known of every beacon of a region.
    package func explain(_ key: RegionKey, at now: MonotonicInstant) -> [PresenceExplanation] {
        engine.explain(key, at: now)
    }

    /// The regions that a beacon belongs to.
    package func regions(of beacon: BeaconID) -> [RegionKey] { engine.regions(of: beacon) }

    /// A region of which beacons were turned away within ten minutes, because too many belong to it.
    package func crowdedRegion(at now: MonotonicInstant) -> CrowdedRegion? {
        guard let last = engine.lastTurnedAway, last.instant.duration(to: now) < .seconds(600) else { return nil }
        return crowdedRegion(last.region)
    }

    /// nil if there is no such region any more.
    func crowdedRegion(_ key: RegionKey) -> CrowdedRegion? {
        guard trackers.indices.contains(key.tracker) else { return nil }
        let tracker = trackers[key.tracker]
        return tracker.regions[rid: key.rid].map { CrowdedRegion(topic: tracker.topics.base, region: $0.displayName) }
    }

    /// Whether there still is such a region.
    package func has(_ key: RegionKey) -> Bool {
        trackers.indices.contains(key.tracker) && trackers[key.tracker].regions[rid: key.rid] != nil
    }

    /// Why somebody came or went, for the log. It looks at the one beacon that did.
    func reason(
        for beacon: BeaconID, in key: RegionKey, of region: Region, at now: MonotonicInstant
    ) -> String {
        let explanation = engine.explain(beacon, in: key, at: now)
        return RegionExplanation.text(explanation, threshold: threshold(of: region), at: now)
    }

    /// The strength that a region asks for; nil: any will do.
    package func threshold(of region: Region) -> RSSI? {
        region.enterRSSI ?? configuration.enterRSSI ?? region.leaveRSSI ?? configuration.leaveRSSI
    }
}
