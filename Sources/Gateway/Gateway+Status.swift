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

    /// Whether there still is such a region.
    package func has(_ key: RegionKey) -> Bool {
        trackers.indices.contains(key.tracker) && trackers[key.tracker].regions[rid: key.rid] != nil
    }

    /// Why somebody came or went, for the log. It looks at the one beacon that did.
    func reason(for record: TransitionRecord, of region: Region, at now: MonotonicInstant) -> String {
        let beacon = engine.explain(record.beacon, in: record.key, at: now)
        return RegionExplanation.text(beacon, threshold: threshold(of: region), at: now)
    }

    /// The strength that a region asks for; nil: any will do.
    package func threshold(of region: Region) -> RSSI? {
        region.enterRSSI ?? configuration.enterRSSI ?? region.leaveRSSI ?? configuration.leaveRSSI
    }
}
