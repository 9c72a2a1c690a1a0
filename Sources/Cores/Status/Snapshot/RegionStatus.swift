package import Base
package import Beacon
package import Gateway
import Health
import JSON
import OwnTracks

extension StatusSnapshot {
    /// One identity with its regions.
    package struct TrackerStatus: Sendable {
        package var tid: String
        /// The base topic.
        package var topic: String
        /// The last part of the topic (`deviceId`): names the tracker outside OwnTracks' tree.
        package var device: String
        /// OwnTracks' `monitoring`, −1 … 2; −1 sends no events.
        package var monitoring: Int
        /// Whether the gateway may publish what it knows of the tracker (`TrackerState.mayPublish`).
        package var tellsPresence: Bool
        /// The name for people; nil if none is set.
        package var name: String?
        /// The first `StatusSnapshot.listedRegions`, and of the others as many occupied ones, in their order.
        package var regions: [RegionStatus]
        /// The number of all regions of beacons.
        package var regionCount: Int

        package init(
            tid: String, topic: String, device: String, monitoring: Int = 1, tellsPresence: Bool = true,
            name: String? = nil, regions: [RegionStatus] = [], regionCount: Int? = nil
        ) {
            self.tid = tid
            self.topic = topic
            self.device = device
            self.monitoring = monitoring
            self.tellsPresence = tellsPresence
            self.name = name
            self.regions = regions
            self.regionCount = regionCount ?? regions.count
        }
    }

    /// One region of one tracker.
    package struct RegionStatus: Sendable {
        package var rid: String
        /// The name as in transitions. It came over MQTT or from a file and may be any text.
        package var name: String
        /// The whole description, `name:UUID[:major[:minor]]`.
        package var description: String
        package var isInside: Bool
        /// The last enter or leave; nil if there was none.
        package var since: MonotonicInstant?
        /// The strongest beacon inside, or the beacon heard last.
        package var beacon: BeaconID?
        package var rssi: RSSI?
        /// Metres, estimated from the measured power.
        package var distance: Double?
        package var lastHeard: MonotonicInstant?
        /// When the region is left if no beacon is heard again.
        package var leaveDeadline: MonotonicInstant?
        /// Why the region is occupied or not, in a sentence.
        package var explanation = ""
        /// Whether no adapter listens, so that the state is the last one known.
        package var isStale = false
        /// The battery of the beacon; nil if it was not read since the start.
        package var battery: BatteryState?

        package init(rid: String, name: String, description: String, isInside: Bool) {
            self.rid = rid
            self.name = name
            self.description = description
            self.isInside = isInside
        }
    }
}

extension StatusSnapshot.TrackerStatus {
    func json(at now: MonotonicInstant) -> JSONValue {
        let listed = (regions.filter(\.isInside) + regions.filter { !$0.isInside }).prefix(StatusSnapshot.listedRegions)
        return [
            "tid": .shown(tid), "topic": .shown(topic), "name": .optional(name.map { .shown($0) }),
            "monitoring": .integer(Int64(monitoring)), "regionCount": .integer(Int64(regionCount)),
            "regions": .array(listed.map { $0.json(at: now) }),
        ]
    }
}

extension StatusSnapshot.RegionStatus {
    func json(at now: MonotonicInstant) -> JSONValue {
        [
            "rid": .string(rid), "name": .shown(name), "description": .shown(description), "inside": .bool(isInside),
            "sinceAgo": .ago(since, at: now), "beacon": .optional(beacon.map { .string("\($0)") }),
            "rssi": .optional(rssi.map { .integer(Int64($0.dBm)) }),
            "distance": .optional(distance.map { .tenths($0) }),
            "heardAgo": .ago(lastHeard, at: now),
            "leavesIn": .optional(leaveDeadline.map { .tenths(max(0, now.duration(to: $0).inSeconds)) }),
            "stale": .bool(isStale), "explanation": .shown(explanation),
            "battery": .optional(battery.map { $0.json(at: now) }),
        ]
    }
}
