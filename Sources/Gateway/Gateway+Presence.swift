package import Base
import Beacon
import JSON
import OwnTracks
import Presence
import Regions

extension Gateway {
    /// Beacons that are near no region but of which something was learned: so many are stored. About 60 kB.
    private static let mostAbsentStored = 512

    /// When a beacon leaves if nothing is heard until then; nil while no leave is pending.
    package var leaveDeadline: MonotonicInstant? { engine.nextDeadline }

    /// Sightings of beacons that some region wanted but that were not kept, because there are too many.
    package var droppedSightings: UInt64 { engine.droppedSightings }

    /// Presence as a value, as a whole update stores it.
    package func keptPresence(at instant: MonotonicInstant) -> KeptPresence {
        KeptPresence(
            trackers: trackers.map(\.topics.base), state: engine.state(at: instant, mostAbsent: Self.mostAbsentStored),
            stays: stays)
    }

    /// Adds presence to a decision that changes it: the message that a region was entered, and that it is occupied,
    /// are on the disk together or not at all.
    mutating func withPresence(_ effects: [Effect], at now: MonotonicInstant) -> [Effect] {
        let changesPresence = effects.contains { effect in
            switch effect {
            case .record, .regions: true
            default: false
            }
        }
        return changesPresence ? effects + [.presence(presenceUpdate(at: now))] : effects
    }

    /// A few hundred bytes for one transition, where the whole may be hundreds of thousands: a message waits for them
    /// to be on the disk. What was learned meanwhile of beacons that stayed is as old as the last whole.
    ///
    /// Presence is stored whole if it never was, if more changed than transitions do, and if there are so many changes
    /// that reading them would take longer than they save.
    private mutating func presenceUpdate(at now: MonotonicInstant) -> PresenceUpdate {
        guard persistence.allowsChange, let state = engine.changedStateBytes(at: now) else {
            return .whole(wholePresence(at: now))
        }
        var begun: [KeptPresence.Stay] = []
        var ended: [RegionKey] = []
        for key in persistence.storesChange() {
            if let occupancy = trackers[key.tracker].occupancy[key.rid] {
                begun.append(stay(occupancy, in: key))
            } else if let circle = trackers[key.tracker].circles[key.rid] {
                begun.append(stay(circle, in: key))
            } else {
                ended.append(key)
            }
        }
        let bytes = KeptPresence.Change.bytes(begun: begun, ended: ended, state: state)
        return .change(bytes)
    }

    mutating func wholePresence(at now: MonotonicInstant) -> [UInt8] {
        persistence.storesWhole(sightings: counters.sightings)
        engine.noteChanges()
        return KeptPresence.bytes(
            trackers: trackers.map(\.topics.base), stays: stays,
            state: engine.stateBytes(at: now, mostAbsent: Self.mostAbsentStored))
    }

    /// Presence for the store to write when it suits. In a house where no beacon is near and none is heard, nothing
    /// changes and nothing is written.
    mutating func checkpoint(at now: MonotonicInstant) -> [Effect] {
        let isUnchanged = persistence.isUnchanged(sightings: counters.sightings)
        guard !isUnchanged || !trackers.allSatisfy(\.occupancy.isEmpty) else { return [] }
        return [.checkpoint(wholePresence(at: now))]
    }

    /// Everything that is stored, for a file that lacks it.
    mutating func storeEverything(at now: MonotonicInstant) -> [Effect] {
        lastEdits = [:]
        var effects: [Effect] = [.log(LogEntry(.warning, "state", "the state is written anew, whole"))]
        for tracker in trackers {
            effects.append(.regions(topic: tracker.topics.base, tracker.regions))
            effects.append(.monitoring(topic: tracker.topics.base, tracker.monitoring))
        }
        if let remoteSettings { effects.append(.value(key: Self.remoteSettingsKey, remoteSettings.bytes)) }
        effects.append(.value(key: Self.servedTopicsKey, servedTopics))
        persistence.needsWhole()
        return effects
    }

    private var stays: [KeptPresence.Stay] {
        var stays: [KeptPresence.Stay] = []
        for (position, tracker) in trackers.enumerated() {
            let beacons = tracker.occupancy.map { rid, occupancy in
                stay(occupancy, in: RegionKey(tracker: position, rid: rid.text))
            }
            let circles = tracker.circles.map { rid, circle in
                stay(circle, in: RegionKey(tracker: position, rid: rid.text))
            }
            stays += (beacons + circles).sorted { ExactString($0.rid) < ExactString($1.rid) }
        }
        return stays
    }

    private func stay(_ circle: CircleStay, in key: RegionKey) -> KeptPresence.Stay {
        let isKnown = wallClock.isKnown || circle.keptTimestamp != nil
        return KeptPresence.Stay(
            tracker: key.tracker, rid: key.rid, since: circle.since,
            timestamp: isKnown ? circle.timestamp(by: wallClock) : nil, beacon: nil, rssi: nil)
    }

    private func stay(_ occupancy: Occupancy, in key: RegionKey) -> KeptPresence.Stay {
        let isKnown = wallClock.isKnown || occupancy.keptTimestamp != nil
        return KeptPresence.Stay(
            tracker: key.tracker, rid: key.rid, since: occupancy.since,
            timestamp: isKnown ? occupancy.timestamp(by: wallClock) : nil, beacon: occupancy.beacon,
            rssi: occupancy.rssi)
    }

    /// Goes on from stored presence: an occupied region stays occupied, without an enter.
    mutating func restore(_ kept: KeptPresence, isSameBoot: Bool, at now: MonotonicInstant) -> [Effect] {
        let positions = kept.trackers.map { base in trackers.firstIndex { $0.topics.base.hasSameBytes(as: base) } }
        for stay in kept.stays where positions.indices.contains(stay.tracker) {
            guard let tracker = positions[stay.tracker] else { continue }
            let (since, timestamp) = begin(of: stay, isSameBoot: isSameBoot, at: now)
            if let beacon = stay.beacon {
                trackers[tracker].occupancy[stay.rid] = Occupancy(
                    since: since, keptTimestamp: timestamp, beacon: beacon, rssi: stay.rssi)
            } else if trackers[tracker].regions[rid: stay.rid]?.kind == .circular {
                trackers[tracker].circles[stay.rid] = CircleStay(since: since, keptTimestamp: timestamp)
                trackers[tracker].decidedCircles.insert(ExactString(stay.rid))
            }
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
        return carryOut(engine.restore(state, at: now), at: now) + reconcile(with: state, at: now)
    }

    /// Since when a kept stay lasts, and where that is known better, its seconds since 1970.
    private func begin(
        of stay: KeptPresence.Stay, isSameBoot: Bool, at now: MonotonicInstant
    ) -> (since: MonotonicInstant, timestamp: Int64?) {
        guard !isSameBoot else { return (stay.since, nil) }
        var since = now
        if let timestamp = stay.timestamp, wallClock.isKnown {
            since = MonotonicInstant(nanoseconds: timestamp * 1_000_000_000 &- wallClock.epochOffset)
        }
        return (min(since, now), stay.timestamp)
    }

    /// Makes the occupancy agree with the engine, which alone can say when a beacon leaves.
    ///
    /// They differ where the program ended while transitions that were decided waited for their turn. Those are carried
    /// out now: no transition is lost.
    private mutating func reconcile(with state: PresenceState, at now: MonotonicInstant) -> [Effect] {
        var decisions: [PresenceEngine.Effect] = []
        for tracker in trackers.indices {
            for (rid, occupancy) in trackers[tracker].occupancy.sorted(by: { $0.key < $1.key }) {
                let key = RegionKey(tracker: tracker, rid: rid.text)
                guard !engine.isInside(key) else { continue }
                decisions.append(.left(key, last: occupancy.beacon))
                // A region that is no more has no leave.
                if trackers[tracker].regions[rid: rid.text] == nil { trackers[tracker].occupancy[rid] = nil }
            }
        }
        var entered: Set<RegionKey> = []
        for beacon in state.beacons {
            for membership in beacon.memberships where membership.isNear {
                let key = RegionKey(tracker: membership.tracker, rid: membership.rid)
                guard trackers[key.tracker].occupancy[key.rid] == nil, engine.isInside(key),
                    entered.insert(key).inserted
                else { continue }
                let id = BeaconID(
                    uuid: BeaconUUID(high: beacon.uuidHigh, low: beacon.uuidLow), major: beacon.major,
                    minor: beacon.minor)
                decisions.append(
                    .entered(
                        key,
                        by: Sighting(
                            beacon: id, measuredPower: MeasuredPower(dBm: 0), rssi: nil, receiver: Receiver(index: 0))))
            }
        }
        return carryOut(decisions, at: now)
    }
}
