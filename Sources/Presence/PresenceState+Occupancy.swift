package import Base
package import Beacon

extension PresenceEngine {
    /// Goes on from knowing only which beacon was inside which region, and nothing of its rhythm. Give the regions first; call it
    /// once, before anything is heard.
    ///
    /// A beacon that nobody hears again leaves when receivers have listened for as long as for a beacon of unknown
    /// rhythm (`PresenceTiming.unknownRhythmSeconds`).
    package mutating func restore(occupied: [(region: RegionKey, beacon: BeaconID)], at now: MonotonicInstant) {
        let beacons = occupied.map { region, beacon in
            PresenceState.Beacon(
                uuidHigh: beacon.uuid.high, uuidLow: beacon.uuid.low, major: beacon.major, minor: beacon.minor,
                links: [
                    PresenceState.Link(receiver: 0, silence: 0, model: ArrivalModel(at: 0, rssi: nil, duty: 1))
                ],
                memberships: [
                    PresenceState.Membership(
                        tracker: region.tracker, rid: region.rid, isNear: true, wavering: nil, receiver: 0)
                ])
        }
        _ = restore(PresenceState(beacons: beacons, absences: []), at: now)
    }
}
