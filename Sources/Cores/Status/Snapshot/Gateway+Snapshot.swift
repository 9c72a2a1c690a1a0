package import Base
package import Beacon
import Configuration
package import Gateway
import OwnTracks
package import Presence
import Regions

/// Where and when a beacon of a region was heard last.
package struct RegionHearing: Hashable, Sendable {
    package let beacon: BeaconID
    package let measuredPower: MeasuredPower
    package let rssi: RSSI?
    package let instant: MonotonicInstant
}

extension Gateway {
    /// The trackers and their regions for the snapshot. `tracker` and `occupancy` are state of the core; the parameters
    /// are recorded by `StatusMonitor`.
    ///
    /// - Parameters:
    ///   - hearings: The last beacon heard of each region.
    ///   - changes: When each region was entered or left last.
    package func trackerStates(
        hearings: [RegionKey: RegionHearing], changes: [RegionKey: MonotonicInstant], at now: MonotonicInstant
    ) -> [StatusSnapshot.TrackerStatus] {
        let deciding = decidingBeacons(at: now)
        return trackers.enumerated().map { position, tracker in
            let regions = tracker.regions.regions.filter(\.isBeacon).map { region -> StatusSnapshot.RegionStatus in
                let key = RegionKey(tracker: position, rid: region.rid)
                let occupancy = tracker.occupancy[region.rid]
                let heard = hearings[key]
                var status = StatusSnapshot.RegionStatus(
                    rid: region.rid, name: region.displayName,
                    description: region.description.text(base: configuration.numberBase), isInside: occupancy != nil)
                status.since = occupancy?.since ?? changes[key]
                status.beacon = heard?.beacon ?? occupancy?.beacon
                status.rssi = heard?.rssi
                status.distance = heard.flatMap { heard in
                    heard.rssi.flatMap { OwnTracks.distance(rssi: $0, measuredPower: heard.measuredPower) }
                }
                status.lastHeard = heard?.instant
                status.leaveDeadline = deciding[key]?.expectedLeave
                status.explanation = explanation(deciding[key], of: region, at: now)
                status.battery = (status.beacon ?? deciding[key]?.beacon ?? onlyBeacon(of: region)).flatMap(
                    battery(of:))
                return status
            }
            return StatusSnapshot.TrackerStatus(
                tid: tracker.configuration.trackerID, topic: tracker.topics.base,
                device: tracker.configuration.deviceID, monitoring: tracker.monitoring.rawValue,
                tellsPresence: mayPublish(.entityStates, of: position, at: now), name: tracker.configuration.name,
                regions: regions)
        }
    }

    /// For each region the strongest of these beacons that was heard in the last ten seconds, else the beacon heard
    /// last.
    package func hearings(of beacons: [StatusSnapshot.BeaconState], at now: MonotonicInstant)
        -> [RegionKey: RegionHearing]
    {
        var found: [RegionKey: RegionHearing] = [:]
        func rank(_ hearing: RegionHearing) -> (Int, Int64) {
            guard hearing.instant.duration(to: now) <= .seconds(10) else { return (0, hearing.instant.nanoseconds) }
            return (1, Int64(hearing.rssi?.dBm ?? -128))
        }
        for beacon in beacons {
            let hearing = RegionHearing(
                beacon: beacon.id, measuredPower: beacon.measuredPower, rssi: beacon.rssi, instant: beacon.lastHeard)
            for key in regions(of: beacon.id) where found[key].map({ rank($0) < rank(hearing) }) ?? true {
                found[key] = hearing
            }
        }
        return found
    }

    /// Why the regions of this name or `rid` are occupied or not, with the state of each beacon.
    package func explanation(ofRegion name: String, at now: MonotonicInstant) -> [ExplainedRegion] {
        trackers.enumerated().flatMap { position, tracker in
            // A person types a name, so names that look the same are equal. A `rid` is compared by its bytes.
            tracker.regions.regions.filter {
                $0.isBeacon && ($0.rid.hasSameBytes(as: name) || $0.displayName == name)
            }.map { region in
                let key = RegionKey(tracker: position, rid: region.rid)
                // A sender that invents beacons under a wildcard region makes the list long.
                let beacons = explain(key, at: now).sorted { ($0.isNear ? 1 : 0) > ($1.isNear ? 1 : 0) }
                return ExplainedRegion(
                    trackerID: tracker.configuration.trackerID, rid: region.rid, name: region.displayName,
                    isInside: tracker.occupancy[region.rid] != nil,
                    explanation: reason(for: key, of: region, at: now), beacons: Array(beacons.prefix(50)))
            }
        }
    }

    /// Why a region is occupied or not, in a sentence.
    private func reason(for key: RegionKey, of region: Region, at now: MonotonicInstant) -> String {
        explanation(decidingBeacons(at: now)[key], of: region, at: now)
    }

    private func explanation(
        _ deciding: PresenceExplanation?, of region: Region, at now: MonotonicInstant
    ) -> String {
        RegionExplanation.text(
            deciding, threshold: threshold(of: region),
            battery: (deciding?.beacon ?? onlyBeacon(of: region)).flatMap(battery(of:)),
            at: now)
    }

    /// The beacon of a region that names UUID, major and minor.
    private func onlyBeacon(of region: Region) -> BeaconID? {
        guard case .beacon(let pattern) = region.kind else { return nil }
        let cleared = pattern.cleared(of: configuration.batteryMasks)
        guard let major = cleared.major, let minor = cleared.minor else { return nil }
        return BeaconID(uuid: cleared.uuid, major: major, minor: minor)
    }
}
