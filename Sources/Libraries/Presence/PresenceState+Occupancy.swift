package import Base
package import Beacon

extension PresenceEngine {
    /// Restores which beacon was inside which region, where no rhythm is known. The caller sets the regions first, and
    /// calls it once, before the first sighting.
    ///
    /// A beacon that is not heard again leaves when receivers have listened for as long as for a beacon of unknown
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
                        tracker: region.tracker, rid: region.rid, isNear: true, crossingTime: nil, receiver: 0)
                ])
        }
        _ = restore(PresenceState(beacons: beacons, absences: []), at: now)
    }
}
