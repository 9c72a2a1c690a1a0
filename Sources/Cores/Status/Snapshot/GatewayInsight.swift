package import Base
import Beacon
import Configuration
package import Gateway
import OwnTracks
import Presence
package import Regions

/// What the snapshot and `status --explain` tell of the trackers and regions of a gateway, of which it only reads.
package struct GatewayInsight {
    private let gateway: Gateway

    package init(of gateway: Gateway) { self.gateway = gateway }

    /// The trackers and their regions for the snapshot.
    ///
    /// - Parameter hearings: The beacon that stands for each pattern (`hearings(of:at:)`), as `StatusMonitor` recorded it.
    package func trackerStates(
        hearings: [BeaconPattern: RegionHearing], at now: MonotonicInstant
    ) -> [StatusSnapshot.TrackerStatus] {
        let most = StatusSnapshot.listedRegions(ofTrackers: gateway.trackers.count)
        let listed = gateway.trackers.map { Self.listed($0, most: most) }
        let deciding = gateway.decidingBeacons(
            of: listed.enumerated().flatMap { index, regions in
                regions.map { RegionKey(tracker: index, rid: $0.rid) }
            }, at: now)
        return gateway.trackers.enumerated().map { index, tracker in
            let regions = listed[index].map { region -> StatusSnapshot.RegionStatus in
                let key = RegionKey(tracker: index, rid: region.rid)
                let occupancy = tracker.occupancy[region.rid]
                let heard = pattern(of: region).flatMap { hearings[$0] }
                var status = StatusSnapshot.RegionStatus(
                    rid: region.rid, name: region.displayName,
                    description: region.description.text(base: gateway.configuration.numberBase),
                    isInside: occupancy != nil)
                status.since = tracker.lastChange(of: region.rid)
                status.beacon = heard?.beacon ?? occupancy?.beacon
                status.rssi = heard?.rssi
                status.distance = heard.flatMap { heard in
                    heard.rssi.flatMap { OwnTracks.distance(rssi: $0, measuredPower: heard.measuredPower) }
                }
                status.lastHeard = heard?.instant
                status.leaveDeadline = deciding[key]?.expectedLeave
                status.explanation = explanation(deciding[key], of: region, at: now)
                status.battery = (status.beacon ?? deciding[key]?.beacon ?? onlyBeacon(of: region)).flatMap(
                    gateway.battery(of:))
                return status
            }
            return StatusSnapshot.TrackerStatus(
                tid: tracker.configuration.trackerID, topic: tracker.topics.base,
                device: tracker.configuration.deviceID, monitoring: tracker.monitoring.rawValue,
                tellsPresence: gateway.mayPublish(.entityStates, of: index, at: now),
                name: tracker.configuration.name,
                regions: regions, regionCount: tracker.regions.regions.count(where: \.isBeacon))
        }
    }

    /// The regions of a tracker that are shown: the first ones, and of the others as many that are occupied, in their order.
    private static func listed(_ tracker: TrackerState, most: Int) -> [Region] {
        var regions: [Region] = []
        var (first, occupied) = (0, 0)
        for region in tracker.regions.regions where region.isBeacon {
            if first < most {
                first += 1
                regions.append(region)
            } else {
                guard occupied < min(most, tracker.occupancy.count) else { break }
                guard tracker.occupancy[region.rid] != nil else { continue }
                occupied += 1
                regions.append(region)
            }
        }
        return regions
    }

    /// The pattern by which a beacon is matched with the region.
    private func pattern(of region: Region) -> BeaconPattern? {
        guard case .beacon(let pattern) = region.kind else { return nil }
        return pattern.cleared(of: gateway.configuration.batteryMasks)
    }

    /// For each pattern of a region the strongest of these beacons that was heard in the last ten seconds, else the beacon
    /// heard last. Any number of regions may have one pattern, so patterns are looked up, at most four for each beacon, and not regions.
    package func hearings(of beacons: [StatusSnapshot.BeaconState], at now: MonotonicInstant)
        -> [BeaconPattern: RegionHearing]
    {
        var found: [BeaconPattern: RegionHearing] = [:]
        func rank(_ hearing: RegionHearing) -> (Int, Int64) {
            guard hearing.instant.duration(to: now) <= .seconds(10) else { return (0, hearing.instant.nanoseconds) }
            return (1, Int64(hearing.rssi?.dBm ?? -128))
        }
        for beacon in beacons {
            let hearing = RegionHearing(
                beacon: beacon.id, measuredPower: beacon.measuredPower, rssi: beacon.rssi, instant: beacon.lastHeard)
            for pattern in gateway.patterns(of: beacon.id)
            where found[pattern].map({ rank($0) < rank(hearing) }) ?? true {
                found[pattern] = hearing
            }
        }
        return found
    }

    /// The most regions of one name that are explained at once.
    package static let mostExplained = 20

    /// Why the regions of this name or `rid` are occupied or not, with the state of each beacon. Of very many some are explained;
    /// `regionCount` is the number of all.
    package func explanation(ofRegion name: String, at now: MonotonicInstant) -> [ExplainedRegion] {
        var found: [(key: RegionKey, region: Region)] = []
        var count = 0
        for (index, tracker) in gateway.trackers.enumerated() {
            // A person types a name, so names that look the same are equal. A `rid` is compared by its bytes.
            for region in tracker.regions.regions
            where region.isBeacon && (region.rid.hasSameBytes(as: name) || region.displayName == name) {
                count += 1
                guard found.count < Self.mostExplained else { continue }
                found.append((RegionKey(tracker: index, rid: region.rid), region))
            }
        }
        let deciding = gateway.decidingBeacons(of: found.map(\.key), at: now)
        return found.map { key, region in
            let tracker = gateway.trackers[key.tracker]
            // A sender that invents beacons under a wildcard region makes the list long.
            let beacons = gateway.explain(key, at: now).sorted { ($0.isNear ? 1 : 0) > ($1.isNear ? 1 : 0) }
            return ExplainedRegion(
                trackerID: tracker.configuration.trackerID, rid: region.rid, name: region.displayName,
                isInside: tracker.occupancy[region.rid] != nil,
                explanation: explanation(deciding[key], of: region, at: now), beacons: Array(beacons.prefix(50)),
                regionCount: count)
        }
    }

    private func explanation(
        _ deciding: PresenceExplanation?, of region: Region, at now: MonotonicInstant
    ) -> String {
        RegionExplanation.text(
            deciding, threshold: region.threshold(by: gateway.configuration),
            battery: (deciding?.beacon ?? onlyBeacon(of: region)).flatMap(gateway.battery(of:)),
            at: now)
    }

    /// The beacon of a region that names UUID, major and minor.
    private func onlyBeacon(of region: Region) -> BeaconID? {
        guard case .beacon(let pattern) = region.kind else { return nil }
        let cleared = pattern.cleared(of: gateway.configuration.batteryMasks)
        guard let major = cleared.major, let minor = cleared.minor else { return nil }
        return BeaconID(uuid: cleared.uuid, major: major, minor: minor)
    }
}
