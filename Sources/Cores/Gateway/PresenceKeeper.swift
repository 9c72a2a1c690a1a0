import Base
import Beacon
import Presence
import Regions

/// What is kept of presence over a restart: the whole state from time to time, and with each transition its changes.
///
/// It knows what changed since presence was stored, and decides when the whole state is stored.
struct PresenceKeeper: Sendable {
    /// Changes that are stored before the whole state is stored again.
    private static let mostChanges = 255
    /// Regions that one change names.
    private static let mostChangedRegions = 256
    /// The number of learned beacons outside of all regions that are stored. About 60 kB.
    private static let mostAbsentStored = 512

    /// How many changes may still be stored beside the last whole state.
    private var changesLeft = 0
    /// Regions that were entered or left since presence was stored.
    private var changedRegions: [RegionKey] = []
    private var sightingsAtCheckpoint: UInt64 = 0

    // MARK: - What changed

    /// Presence must be stored whole next: the stored state is lost, or more than transitions changed.
    mutating func needsWhole() { changesLeft = 0 }

    /// The region was entered or left.
    mutating func recordChange(of key: RegionKey) {
        guard changesLeft > 0 else { return }
        if !changedRegions.contains(key) { changedRegions.append(key) }
        if changedRegions.count > Self.mostChangedRegions { needsWhole() }
    }

    // MARK: - What is stored

    /// Presence as a value, as a whole update stores it.
    static func value(
        of trackers: Trackers, _ engine: PresenceEngine, by clock: WallClock, at now: MonotonicInstant
    ) -> KeptPresence {
        KeptPresence(
            trackers: trackers.topics, state: engine.state(at: now, mostAbsent: mostAbsentStored),
            occupancies: occupancies(of: trackers, by: clock))
    }

    /// Presence for a decision that changes it.
    ///
    /// A change of a few hundred bytes for one transition, because its message waits until the bytes are on the disk;
    /// the whole state may be hundreds of kilobytes. The stored models of other beacons are as old as the last whole
    /// state.
    ///
    /// Presence is stored whole if it was not stored yet, if more than transitions changed, and if so many changes are
    /// stored that reading them would take longer than they save.
    ///
    /// - Parameter sightings: As of `whole`.
    mutating func update(
        of trackers: Trackers, _ engine: inout PresenceEngine, sightings: UInt64, by clock: WallClock,
        at now: MonotonicInstant
    ) -> PresenceUpdate {
        guard changesLeft > 0, let state = engine.changedStateBytes(at: now) else {
            return .whole(whole(of: trackers, &engine, sightings: sightings, by: clock, at: now))
        }
        var begun: [KeptPresence.Occupancy] = []
        var ended: [RegionKey] = []
        for key in changedRegions {
            let tracker = trackers[key.tracker]
            if let occupancy = tracker.occupancy[key.rid] {
                begun.append(KeptPresence.Occupancy(occupancy, in: key, by: clock))
            } else if let circle = tracker.circles[key.rid] {
                begun.append(KeptPresence.Occupancy(circle, in: key, by: clock))
            } else if let absence = tracker.absences[key.rid] {
                begun.append(KeptPresence.Occupancy(absence, in: key, by: clock, isOutside: true))
            } else {
                ended.append(key)
            }
        }
        changesLeft -= 1
        changedRegions = []
        return .change(KeptPresence.Change.bytes(begun: begun, ended: ended, state: state))
    }

    /// - Parameter sightings: How many were heard since the start.
    /// - Returns: For `KeptPresence(bytes:)`.
    mutating func whole(
        of trackers: Trackers, _ engine: inout PresenceEngine, sightings: UInt64, by clock: WallClock,
        at now: MonotonicInstant
    ) -> [UInt8] {
        changesLeft = Self.mostChanges
        changedRegions = []
        sightingsAtCheckpoint = sightings
        engine.beginRecordingChanges()
        return KeptPresence.bytes(
            trackers: trackers.topics, occupancies: Self.occupancies(of: trackers, by: clock),
            state: engine.stateBytes(at: now, mostAbsent: Self.mostAbsentStored))
    }

    /// Presence for the store to write at a convenient time. While no region is occupied and no beacon is heard,
    /// nothing changes and nothing is written, unless presence must be stored whole, as after the clock was set.
    ///
    /// - Parameter sightings: As of `whole`.
    mutating func checkpoint(
        of trackers: Trackers, _ engine: inout PresenceEngine, sightings: UInt64, by clock: WallClock,
        at now: MonotonicInstant
    ) -> [Gateway.Effect] {
        let isUnchanged = changesLeft > 0 && sightings == sightingsAtCheckpoint
        guard !isUnchanged || !trackers.allSatisfy(\.occupancy.isEmpty) else { return [] }
        return [.checkpoint(whole(of: trackers, &engine, sightings: sightings, by: clock, at: now))]
    }

    private static func occupancies(of trackers: Trackers, by clock: WallClock) -> [KeptPresence.Occupancy] {
        var occupancies: [KeptPresence.Occupancy] = []
        for (index, tracker) in trackers.enumerated() {
            let beacons = tracker.occupancy.map { rid, occupancy in
                KeptPresence.Occupancy(occupancy, in: RegionKey(tracker: index, rid: rid.text), by: clock)
            }
            let circles = tracker.circles.map { rid, circle in
                KeptPresence.Occupancy(circle, in: RegionKey(tracker: index, rid: rid.text), by: clock)
            }
            let absences = tracker.absences.map { rid, absence in
                KeptPresence.Occupancy(
                    absence, in: RegionKey(tracker: index, rid: rid.text), by: clock, isOutside: true)
            }
            occupancies += (beacons + circles + absences).sorted { ExactString($0.rid) < ExactString($1.rid) }
        }
        return occupancies
    }

    // MARK: - What is restored

    /// Restores the stored occupancy: an occupied region stays occupied, without an enter.
    ///
    /// - Parameters:
    ///   - topics: As of `StoredState`.
    ///   - isSameBoot: Whether instants in it are of this boot's clock.
    /// - Returns: What the engine has to restore, with the present indices of the trackers.
    static func restore(
        _ kept: KeptPresence, of topics: [String], isSameBoot: Bool, to trackers: inout Trackers,
        by clock: WallClock, at now: MonotonicInstant
    ) -> PresenceState {
        let topics = topics.isEmpty ? trackers.topics : topics
        let newIndices = kept.trackers.map { base in topics.firstIndex { $0.hasSameBytes(as: base) } }
        for occupancy in kept.occupancies where newIndices.indices.contains(occupancy.tracker) {
            guard let tracker = newIndices[occupancy.tracker] else { continue }
            let begin = occupancy.begin(isSameBoot: isSameBoot, by: clock, at: now)
            trackers[tracker].restore(occupancy, since: begin)
        }
        var state = kept.state
        for index in state.beacons.indices {
            state.beacons[index].memberships = state.beacons[index].memberships.compactMap { membership in
                guard newIndices.indices.contains(membership.tracker), let tracker = newIndices[membership.tracker]
                else { return nil }
                var moved = membership
                moved.tracker = tracker
                return moved
            }
        }
        return state
    }

    /// Where the occupancy differs from the engine, which decides when a beacon leaves.
    ///
    /// They differ if the program ended while decided transitions waited for their turn. These transitions are carried
    /// out now, so that no transition is lost.
    ///
    /// - Parameter state: As it was restored.
    /// - Returns: the decisions that are missing.
    static func reconcile(_ trackers: inout Trackers, with engine: PresenceEngine, _ state: PresenceState)
        -> [PresenceEngine.Effect]
    {
        var decisions: [PresenceEngine.Effect] = []
        for tracker in trackers.indices {
            for (rid, occupancy) in trackers[tracker].occupancy.sorted(by: { $0.key < $1.key }) {
                let key = RegionKey(tracker: tracker, rid: rid.text)
                guard !engine.isOccupied(key) else { continue }
                decisions.append(.left(key, last: occupancy.beacon, because: .restart))
                // A removed region has no leave.
                if trackers.region(key) == nil { trackers[tracker].forgetOccupancy(of: rid) }
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
        return decisions
    }

    /// The beacons that occupy the regions of trackers that are there again: whoever was inside is inside again, without an enter,
    /// until silence counts.
    ///
    /// - Parameter returned: The indices of these trackers.
    static func occupied(by returned: [Int], of trackers: Trackers) -> [(region: RegionKey, beacon: BeaconID)] {
        returned.flatMap { index in
            trackers[index].occupancy.sorted { $0.key < $1.key }.map { rid, occupancy in
                (RegionKey(tracker: index, rid: rid.text), occupancy.beacon)
            }
        }
    }
}

extension KeptPresence.Occupancy {
    init(_ occupancy: Occupancy, in key: RegionKey, by clock: WallClock) {
        self.init(occupancy.begin, in: key, by: clock)
        (beacon, rssi) = (occupancy.beacon, occupancy.rssi)
    }

    /// Neither a circle nor a region that was left has a beacon.
    init(_ begin: OccupancyBegin, in key: RegionKey, by clock: WallClock, isOutside: Bool = false) {
        self.init(
            tracker: key.tracker, rid: key.rid, since: begin.since,
            timestamp: begin.isTimeKnown(by: clock) ? begin.timestamp(by: clock) : nil, isOutside: isOutside)
    }

    /// The begin of a stored occupancy or absence.
    func begin(isSameBoot: Bool, by clock: WallClock, at now: MonotonicInstant) -> OccupancyBegin {
        // In the same boot the instant is exact, unless the clock has not been known since the boot.
        if isSameBoot, clock.isKnown || timestamp == nil { return OccupancyBegin(since: since) }
        return OccupancyBegin(since: isSameBoot ? since : now, keptTimestamp: timestamp).exact(by: clock, at: now)
    }
}
