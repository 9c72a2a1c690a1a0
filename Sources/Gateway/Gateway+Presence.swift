package import Beacon
internal import OwnTracks
package import Presence
internal import Regions

extension Gateway {
    /// Beacons of whom something was learned and who are nowhere inside: so many are kept. About 60 kB.
    private static let mostAbsentKept = 512
    /// Changes that are kept beside the whole, before it is kept anew.
    private static let mostChanges = 255
    /// Regions that one change names.
    private static let mostChangedRegions = 256

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

    /// The bytes of `keptPresence`. What changes from now on is noted, for `presenceChange`.
    package mutating func keepPresence(at instant: MonotonicInstant) -> [UInt8] {
        changesLeft = Self.mostChanges
        changedRegions = []
        engine.noteChanges()
        return KeptPresence.bytes(
            trackers: trackers.map(\.topics.base), stays: stays,
            state: engine.stateBytes(at: instant, mostAbsent: Self.mostAbsentKept))
    }

    /// What transitions changed since presence was last kept, whole or by this.
    package struct PresenceChange: Sendable {
        /// For `KeptPresence(bytes:changes:)`.
        package var bytes: [UInt8]
        /// Regions that somebody entered or left.
        package var regions: [RegionKey]
    }

    /// A few hundred bytes for one transition, where the whole may be hundreds of thousands: a message waits for them
    /// to be on the disk. What was learned meanwhile of those who stayed is as old as the last whole.
    ///
    /// - Returns: nil if presence must be kept whole: it never was, or more changed than transitions do, or there are
    ///   so many changes that reading them would take longer than they save.
    package mutating func presenceChange(at instant: MonotonicInstant) -> PresenceChange? {
        guard changesLeft > 0, let state = engine.changedStateBytes(at: instant) else { return nil }
        changesLeft -= 1
        let regions = changedRegions
        changedRegions = []
        var begun: [KeptPresence.Stay] = []
        var ended: [RegionKey] = []
        for key in regions {
            if let occupancy = trackers[key.tracker].occupancy[key.rid] {
                begun.append(stay(occupancy, in: key))
            } else {
                ended.append(key)
            }
        }
        return PresenceChange(
            bytes: KeptPresence.Change.bytes(begun: begun, ended: ended, state: state), regions: regions)
    }

    /// Presence must be kept whole next: what was kept was lost, or is changed by more than transitions.
    package mutating func forgetKeptPresence() { changesLeft = 0 }

    /// Somebody entered or left it.
    mutating func note(changeOf key: RegionKey) {
        guard changesLeft > 0 else { return }
        if !changedRegions.contains(key) { changedRegions.append(key) }
        if changedRegions.count > Self.mostChangedRegions { forgetKeptPresence() }
    }

    private var stays: [KeptPresence.Stay] {
        var stays: [KeptPresence.Stay] = []
        for (position, tracker) in trackers.enumerated() {
            for (rid, occupancy) in tracker.occupancy.sorted(by: { $0.key < $1.key }) {
                stays.append(stay(occupancy, in: RegionKey(tracker: position, rid: rid)))
            }
        }
        return stays
    }

    private func stay(_ occupancy: Occupancy, in key: RegionKey) -> KeptPresence.Stay {
        let isKnown = wallClock.isKnown || occupancy.keptTimestamp != nil
        return KeptPresence.Stay(
            tracker: key.tracker, rid: key.rid, since: occupancy.since,
            timestamp: isKnown ? occupancy.timestamp(by: wallClock) : nil, beacon: occupancy.beacon,
            rssi: occupancy.rssi)
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
