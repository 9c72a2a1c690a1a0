package import Base
import Beacon
import Configuration
import JSON
import OwnTracks
import Presence
import Regions

extension Gateway {
    /// The number of learned beacons outside of all regions that are stored. About 60 kB.
    private static let mostAbsentStored = 512

    /// When a beacon leaves if nothing is heard until then; nil while no leave is pending.
    package var leaveDeadline: MonotonicInstant? { engine.nextDeadline }

    /// Sightings of beacons that match a region and were not remembered, because there are too many.
    package var droppedSightings: UInt64 { engine.droppedSightings }

    /// Presence as a value, as a whole update stores it.
    package func keptPresence(at instant: MonotonicInstant) -> KeptPresence {
        KeptPresence(
            trackers: trackers.map(\.topics.base), state: engine.state(at: instant, mostAbsent: Self.mostAbsentStored),
            occupancies: keptOccupancies)
    }

    /// Adds presence to a decision that changes it: the transition's message and the occupancy are stored together or
    /// not at all.
    mutating func withPresence(_ effects: [Effect], at now: MonotonicInstant) -> [Effect] {
        let changesPresence = effects.contains { effect in
            switch effect {
            case .record, .regions: true
            default: false
            }
        }
        return changesPresence ? effects + [.presence(presenceUpdate(at: now))] : effects
    }

    /// A change of a few hundred bytes for one transition, because its message waits until the bytes are on the disk;
    /// the whole state may be hundreds of kilobytes. The stored models of other beacons are as old as the last whole
    /// state.
    ///
    /// Presence is stored whole if it was not stored yet, if more than transitions changed, and if so many changes are
    /// stored that reading them would take longer than they save.
    private mutating func presenceUpdate(at now: MonotonicInstant) -> PresenceUpdate {
        guard persistence.allowsChange, let state = engine.changedStateBytes(at: now) else {
            return .whole(wholePresence(at: now))
        }
        var begun: [KeptPresence.Occupancy] = []
        var ended: [RegionKey] = []
        for key in persistence.storesChange() {
            if let occupancy = trackers[key.tracker].occupancy[key.rid] {
                begun.append(kept(occupancy, in: key))
            } else if let circle = trackers[key.tracker].circles[key.rid] {
                begun.append(kept(circle, in: key))
            } else if let absence = trackers[key.tracker].absences[key.rid] {
                begun.append(kept(absence, in: key, isOutside: true))
            } else {
                ended.append(key)
            }
        }
        let bytes = KeptPresence.Change.bytes(begun: begun, ended: ended, state: state)
        return .change(bytes)
    }

    mutating func wholePresence(at now: MonotonicInstant) -> [UInt8] {
        persistence.storesWhole(sightings: totals.sightings)
        engine.beginRecordingChanges()
        return KeptPresence.bytes(
            trackers: trackers.map(\.topics.base), occupancies: keptOccupancies,
            state: engine.stateBytes(at: now, mostAbsent: Self.mostAbsentStored))
    }

    /// Presence for the store to write at a convenient time. While no region is occupied and no beacon is heard,
    /// nothing changes and nothing is written, unless presence must be stored whole, as after the clock was set.
    mutating func checkpoint(at now: MonotonicInstant) -> [Effect] {
        let isUnchanged = persistence.allowsChange && persistence.isUnchanged(sightings: totals.sightings)
        guard !isUnchanged || !trackers.allSatisfy(\.occupancy.isEmpty) else { return [] }
        return [.checkpoint(wholePresence(at: now))]
    }

    /// Stores everything, because the store has a new file.
    mutating func storeEverything(at now: MonotonicInstant) -> [Effect] {
        lastEdits = [:]
        var effects: [Effect] = [.log(LogEntry(.warning, "state", "the whole state is written again"))]
        for tracker in trackers {
            effects.append(.regions(topic: tracker.topics.base, tracker.regions))
            effects.append(tracker.storedMonitoring(configuration.monitoring))
            effects.append(tracker.storedAppliedCommands)
            if tracker.pendingClear != nil { effects.append(tracker.storedClear) }
        }
        for tracker in removed.trackers {
            effects.append(.regions(topic: tracker.topic, tracker.regions))
            if let kept = tracker.monitoring { effects.append(.monitoring(topic: tracker.topic, kept)) }
            effects.append(
                .value(key: AppliedCommands.storeKey(of: tracker.topic), tracker.appliedCommands.bytes))
        }
        if let remoteSettings { effects.append(.value(key: Self.remoteSettingsKey, remoteSettings.bytes)) }
        effects.append(storedEnvelopes)
        effects.append(.value(key: Self.servedTopicsKey, servedTopics))
        effects.append(.value(key: Self.servedDevicesKey, servedDevices))
        if let hardware { effects.append(.value(key: Self.servedHardwareKey, hardware)) }
        effects.append(.value(key: Self.removedTopicsKey, removed.topicsBytes))
        effects.append(.value(key: Self.lowBatteriesKey, storedLowBatteries))
        persistence.needsWhole()
        return effects
    }

    private var keptOccupancies: [KeptPresence.Occupancy] {
        var occupancies: [KeptPresence.Occupancy] = []
        for (position, tracker) in trackers.enumerated() {
            let beacons = tracker.occupancy.map { rid, occupancy in
                kept(occupancy, in: RegionKey(tracker: position, rid: rid.text))
            }
            let circles = tracker.circles.map { rid, circle in
                kept(circle, in: RegionKey(tracker: position, rid: rid.text))
            }
            let absences = tracker.absences.map { rid, absence in
                kept(absence, in: RegionKey(tracker: position, rid: rid.text), isOutside: true)
            }
            occupancies += (beacons + circles + absences).sorted { ExactString($0.rid) < ExactString($1.rid) }
        }
        return occupancies
    }

    private func kept(_ occupancy: Occupancy, in key: RegionKey) -> KeptPresence.Occupancy {
        kept(occupancy.begin, in: key, beacon: occupancy.beacon, rssi: occupancy.rssi)
    }

    /// Neither a circle nor a region that was left has a beacon.
    private func kept(
        _ begin: OccupancyBegin, in key: RegionKey, beacon: BeaconID? = nil, rssi: RSSI? = nil, isOutside: Bool = false
    ) -> KeptPresence.Occupancy {
        KeptPresence.Occupancy(
            tracker: key.tracker, rid: key.rid, since: begin.since,
            timestamp: begin.isTimeKnown(by: wallClock) ? begin.timestamp(by: wallClock) : nil, isOutside: isOutside,
            beacon: beacon, rssi: rssi)
    }

    /// Restores stored presence: an occupied region stays occupied, without an enter.
    ///
    /// - Parameter topics: As of `StoredState`.
    mutating func restore(
        _ kept: KeptPresence, of topics: [String], isSameBoot: Bool, at now: MonotonicInstant
    ) -> [Effect] {
        let topics = topics.isEmpty ? trackers.map(\.topics.base) : topics
        let positions = kept.trackers.map { base in topics.firstIndex { $0.hasSameBytes(as: base) } }
        for occupancy in kept.occupancies where positions.indices.contains(occupancy.tracker) {
            guard let tracker = positions[occupancy.tracker] else { continue }
            let begin = begin(of: occupancy, isSameBoot: isSameBoot, at: now)
            if occupancy.isOutside {
                // Which regions are still there is known when those of the configuration are merged.
                trackers[tracker].absences[occupancy.rid] = begin
            } else if let beacon = occupancy.beacon {
                trackers[tracker].occupancy[occupancy.rid] = Occupancy(begin, beacon: beacon, rssi: occupancy.rssi)
            } else if trackers[tracker].regions[rid: occupancy.rid]?.kind == .circular {
                trackers[tracker].circles[occupancy.rid] = begin
                trackers[tracker].decidedCircles.insert(ExactString(occupancy.rid))
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

    /// The begin of a stored occupancy or absence.
    private func begin(
        of occupancy: KeptPresence.Occupancy, isSameBoot: Bool, at now: MonotonicInstant
    ) -> OccupancyBegin {
        // In the same boot the instant is exact, unless the clock has not been known since the boot.
        if isSameBoot, wallClock.isKnown || occupancy.timestamp == nil { return OccupancyBegin(since: occupancy.since) }
        let since = isSameBoot ? occupancy.since : now
        return OccupancyBegin(since: since, keptTimestamp: occupancy.timestamp).exact(by: wallClock, at: now)
    }

    /// Makes the occupancy agree with the engine, which decides when a beacon leaves.
    ///
    /// They differ if the program ended while decided transitions waited for their turn. These transitions are carried
    /// out now, so that no transition is lost.
    private mutating func reconcile(with state: PresenceState, at now: MonotonicInstant) -> [Effect] {
        var decisions: [PresenceEngine.Effect] = []
        for tracker in trackers.indices {
            for (rid, occupancy) in trackers[tracker].occupancy.sorted(by: { $0.key < $1.key }) {
                let key = RegionKey(tracker: tracker, rid: rid.text)
                guard !engine.isOccupied(key) else { continue }
                decisions.append(.left(key, last: occupancy.beacon, because: .restart))
                // A removed region has no leave.
                if trackers[tracker].regions[rid: rid.text] == nil { trackers[tracker].occupancy[rid] = nil }
            }
        }
        var entered: Set<RegionKey> = []
        for beacon in state.beacons {
            for membership in beacon.memberships where membership.isNear {
                let key = RegionKey(tracker: membership.tracker, rid: membership.rid)
                guard trackers[key.tracker].occupancy[key.rid] == nil, engine.isOccupied(key),
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
