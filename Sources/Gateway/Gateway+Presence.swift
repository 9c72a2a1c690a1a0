package import Beacon
internal import OwnTracks
internal import Presence
internal import Regions

extension Gateway {
    /// Beacons of whom something was learned and who are nowhere inside: so many are kept. About 60 kB.
    private static let mostAbsentKept = 512

    /// When somebody leaves if nothing is heard until then; nil while nobody is to leave.
    package var leaveDeadline: MonotonicInstant? { engine.nextDeadline }

    /// Sightings of beacons that some region wanted but that were not kept, because there are too many.
    package var droppedSightings: UInt64 { engine.droppedSightings }

    /// Who is where, to keep.
    package func keptPresence(at instant: MonotonicInstant) -> KeptPresence {
        KeptPresence(
            trackers: trackers.map(\.topics.base), state: engine.state(at: instant, mostAbsent: Self.mostAbsentKept),
            stays: stays)
    }

    /// The bytes of `keptPresence`.
    package func keptPresenceBytes(at instant: MonotonicInstant) -> [UInt8] {
        KeptPresence.bytes(
            trackers: trackers.map(\.topics.base), stays: stays,
            state: engine.stateBytes(at: instant, mostAbsent: Self.mostAbsentKept))
    }

    private var stays: [KeptPresence.Stay] {
        var stays: [KeptPresence.Stay] = []
        for (position, tracker) in trackers.enumerated() {
            for (rid, occupancy) in tracker.occupancy.sorted(by: { $0.key < $1.key }) {
                let isKnown = wallClock.isKnown || occupancy.keptTimestamp != nil
                stays.append(
                    KeptPresence.Stay(
                        tracker: position, rid: rid, since: occupancy.since,
                        timestamp: isKnown ? occupancy.timestamp(by: wallClock) : nil,
                        beacon: occupancy.beacon, rssi: occupancy.rssi))
            }
        }
        return stays
    }

    /// Goes on from what was kept: who was inside is inside, without entering anew.
    mutating func restore(_ kept: KeptPresence, isSameBoot: Bool, at now: MonotonicInstant) -> [Effect] {
        let positions = kept.trackers.map { base in trackers.firstIndex { $0.topics.base == base } }
        for stay in kept.stays where positions.indices.contains(stay.tracker) {
            guard let tracker = positions[stay.tracker] else { continue }
            trackers[tracker].occupancy[stay.rid] = occupancy(of: stay, isSameBoot: isSameBoot, at: now)
        }
        var state = kept.state
        for place in state.beacons.indices {
            state.beacons[place].memberships = state.beacons[place].memberships.compactMap { membership in
                guard positions.indices.contains(membership.tracker), let tracker = positions[membership.tracker]
                else { return nil }
                var moved = membership
                moved.tracker = tracker
                return moved
            }
        }
        return carryOut(engine.restore(state, at: now), at: now) + agree(with: state, at: now)
    }

    private func occupancy(of stay: KeptPresence.Stay, isSameBoot: Bool, at now: MonotonicInstant) -> Occupancy {
        guard !isSameBoot else { return Occupancy(since: stay.since, beacon: stay.beacon, rssi: stay.rssi) }
        var since = now
        if let timestamp = stay.timestamp, wallClock.isKnown {
            since = MonotonicInstant(nanoseconds: timestamp * 1_000_000_000 &- wallClock.epochOffset)
        }
        return Occupancy(
            since: min(since, now), keptTimestamp: stay.timestamp, beacon: stay.beacon, rssi: stay.rssi)
    }

    /// The two parts were kept as one, so they differ only if something is wrong. Then the engine is right: it
    /// alone can say when somebody leaves.
    private mutating func agree(with state: PresenceState, at now: MonotonicInstant) -> [Effect] {
        var effects: [Effect] = []
        for tracker in trackers.indices {
            for (rid, occupancy) in trackers[tracker].occupancy.sorted(by: { $0.key < $1.key }) {
                let key = RegionKey(tracker: tracker, rid: rid)
                guard !engine.isInside(key) else { continue }
                effects += carryOut([.left(key, last: occupancy.beacon)], at: now)
                trackers[tracker].occupancy[rid] = nil
            }
        }
        for beacon in state.beacons {
            for membership in beacon.memberships where membership.isNear {
                let key = RegionKey(tracker: membership.tracker, rid: membership.rid)
                guard trackers[key.tracker].occupancy[key.rid] == nil, engine.isInside(key) else { continue }
                let id = BeaconID(
                    uuid: BeaconUUID(high: beacon.uuidHigh, low: beacon.uuidLow), major: beacon.major,
                    minor: beacon.minor)
                trackers[key.tracker].occupancy[key.rid] = Occupancy(since: now, beacon: id, rssi: nil)
            }
        }
        return effects
    }
}
