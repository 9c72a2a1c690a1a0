package import Base
package import Beacon
package import Identities
package import JSON
package import OwnTracks
package import Presence
package import Regions

/// What may be read of the gateway, for the status, Home Assistant and the tools.
extension Gateway {
    package var trackers: Trackers { tracking.trackers }

    /// The stored settings of `setConfiguration`, which replace those of the file.
    package var remoteSettings: JSONValue? { trial.kept }

    /// What the regions listen for beside iBeacons, each once, for the radio.
    package var identities: [Identity] { tracking.identities }

    package var counters: Counters {
        var counters = tracking.counts
        counters.commands = commands.counts
        return counters
    }

    /// The last refused commands and waypoints.
    package var refusals: RecentRefusals { commands.refusals }

    /// As `TrackerState.mayPublish`.
    package func mayPublish(_ event: PublishedEvent, of tracker: Int, at instant: MonotonicInstant) -> Bool {
        trackers[tracker].mayPublish(event, at: instant)
    }

    // MARK: - Presence

    /// Presence as a value, as a whole update stores it.
    package func keptPresence(at instant: MonotonicInstant) -> KeptPresence {
        PresenceKeeper.value(of: trackers, tracking.engine, by: wallClock, at: instant)
    }

    /// Sightings of beacons that match a region and were not remembered, because there are too many.
    package var droppedSightings: UInt64 { tracking.engine.droppedSightings }

    /// The region whose beacons were turned away last, within ten minutes, because there are too many.
    package func crowdedRegion(at now: MonotonicInstant) -> CrowdedRegion? {
        guard let last = tracking.engine.lastTurnedAway, last.instant.duration(to: now) < .seconds(600) else {
            return nil
        }
        return trackers.crowdedRegion(last.region)
    }

    /// Whether the region still exists.
    package func has(_ key: RegionKey) -> Bool { trackers.region(key) != nil }

    /// For each of these regions the beacon that decides whether the region is occupied.
    package func decidingBeacons(
        of regions: some Sequence<RegionKey>, at now: MonotonicInstant
    ) -> [RegionKey: PresenceExplanation] {
        tracking.engine.decidingBeacons(of: regions, at: now)
    }

    /// The state of every beacon of a region.
    package func explain(_ key: RegionKey, at now: MonotonicInstant) -> [PresenceExplanation] {
        tracking.engine.explain(key, at: now)
    }

    // MARK: - A beacon

    /// The most regions of one beacon that are named. A beacon may belong to any number of regions.
    package static let mostNamedRegions = 20

    /// The number of regions that a beacon belongs to.
    package func regionCount(of beacon: BeaconID) -> Int { tracking.engine.regionCount(of: beacon) }

    /// The patterns of the regions that a beacon belongs to, each once: at most four.
    package func patterns(of beacon: BeaconID) -> [BeaconPattern] { tracking.engine.patterns(of: beacon) }

    /// The names of the regions that a beacon belongs to, one for each region: at most `mostNamedRegions`.
    package func regionNames(of beacon: BeaconID) -> [String] { trackers.names(of: beacon, by: tracking.engine) }

    /// The name of a region that a beacon belongs to; of several, the alphabetically first.
    package func regionName(of beacon: BeaconID) -> String? { regionNames(of: beacon).min() }

    /// The last reading of the beacon's battery; nil if there is none, or if the beacon belongs to no region.
    package func battery(of beacon: BeaconID) -> BatteryState? { tracking.batteries[beacon] }

    /// The beacons whose batteries are low, the emptiest first, each with the names of its regions.
    package var lowBatteries: [(beacon: BeaconID, names: [String], state: BatteryState)] {
        tracking.batteries.low.map {
            ($0.beacon, trackers.distinctNames(of: $0.beacon, by: tracking.engine), $0.state)
        }
    }
}
