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
                ofUnknownRhythm: beacon, heardBy: 0,
                memberships: [
                    PresenceState.Membership(
                        tracker: region.tracker, rid: region.rid, isNear: true, crossingTime: nil, receiver: 0)
                ])
        }
        _ = restore(PresenceState(beacons: beacons, absences: []), at: now)
    }

    /// Makes beacons near again in regions that come back while others are in force. The caller sets the regions first.
    ///
    /// A beacon that is near in no other region leaves as if it had been heard now: while its regions were missing, its
    /// receiver may not have listened for it.
    ///
    /// - Returns: Leaves of regions that the beacon does not belong to, or in which there is no place for it.
    package mutating func resume(
        occupied: [(region: RegionKey, beacon: BeaconID)], at now: MonotonicInstant
    ) -> [Effect] {
        changedBeacons = nil
        var effects: [Effect] = []
        // One that has not listened since the start would have given the beacon up long ago.
        let receiver = clock.listeningReceiver.flatMap { UInt8(exactly: $0.index) } ?? 0
        for (region, beacon) in occupied {
            if table.place(of: beacon, in: tracked) == nil {
                _ = restore(
                    PresenceState.Beacon(ofUnknownRhythm: beacon, heardBy: receiver, memberships: []), at: now)
            }
            guard let place = table.place(of: beacon, in: tracked), let index = membership(of: place, in: region)
            else {
                effects.append(.left(region, last: beacon, because: .region))
                continue
            }
            if tracked[place].nearCount == 0 { endSilence(of: place, at: now) }
            comeNear(index, of: place)
            // The next tick looks when it leaves. An earlier time would count as a late tick.
            schedule(place, at: now.nanoseconds)
        }
        return effects
    }

    /// The index of a beacon's membership in a region; nil if it does not belong to the region.
    private func membership(of place: Int, in region: RegionKey) -> Int? {
        var index = tracked[place].membership
        while index >= 0 {
            let member = membership(index, of: place)
            if keys[Int(member.region)] == region { return index }
            index = Int(member.next)
        }
        return nil
    }

    /// The silence of a beacon begins anew at all receivers.
    private mutating func endSilence(of place: Int, at now: MonotonicInstant) {
        var index = tracked[place].link
        while index >= 0 {
            var link = link(index, of: place)
            link.model.setLastHeard(clock.time(of: link.receiver, at: now))
            setLink(index, of: place, to: link)
            index = Int(link.next)
        }
        let joint = Int(tracked[place].joint)
        if joint >= 0 { joints[joint].setLastHeard(clock.timeOfAny(at: now)) }
    }
}

extension PresenceState.Beacon {
    /// A beacon that was heard just now, and of which no more is known.
    fileprivate init(
        ofUnknownRhythm beacon: BeaconID, heardBy receiver: UInt8, memberships: [PresenceState.Membership]
    ) {
        self.init(
            uuidHigh: beacon.uuid.high, uuidLow: beacon.uuid.low, major: beacon.major, minor: beacon.minor,
            links: [PresenceState.Link(receiver: receiver, silence: 0, model: ArrivalModel(at: 0, rssi: nil, duty: 1))],
            memberships: memberships)
    }
}
