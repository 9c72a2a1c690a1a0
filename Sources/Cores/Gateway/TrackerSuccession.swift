package import Base
import Configuration
import OwnTracks
import Regions

/// What becomes of the trackers with other settings: which tracker continues as which. Regions and presence stay with their trackers.
struct TrackerSuccession {
    /// The trackers of the new settings.
    let trackers: Trackers
    /// The new index of each tracker by its old one; nil: all keep theirs.
    let newIndices: [Int: Int]?
    /// The trackers that the settings no longer contain.
    let gone: [RemovedTracker]
    /// The indices of trackers that were removed before, and are there again.
    let returned: [Int]
    /// Withdrawals of the retained states of trackers that were removed, or have another device now.
    let abandoned: [RegionAnnouncement]
    /// What has another key or value in the store.
    let stored: [Gateway.Effect]
    /// The indices of trackers for which the settings have the same regions as before. If the file was not read again, these are not
    /// merged: they would bring back what was removed since.
    let spared: Set<Int>

    /// - Parameters:
    ///   - old: The trackers so far.
    ///   - former: The settings so far.
    ///   - modes: As of `Gateway.Input.configuration`.
    ///   - removed: A tracker among them may return.
    init(
        of old: Trackers, from former: Configuration, to new: Configuration, modes: [ExactString: MonitoringMode]?,
        removed: inout RemovedTrackers, by clock: WallClock, at now: MonotonicInstant
    ) {
        let origins = old.origins(of: new.trackers, returning: removed.topics)
        var (next, returned, stored): ([TrackerState], [Int], [Gateway.Effect]) = ([], [], [])
        for (settings, origin) in zip(new.trackers, origins) {
            guard let origin else {
                guard let former = removed.take(settings.topics.base) else {
                    next.append(TrackerState(settings, monitoring: new.monitoring, at: now))
                    continue
                }
                let state = TrackerState(settings, monitoring: new.monitoring, continuing: former, by: clock, at: now)
                // The store may be a new one since.
                stored += [.regions(topic: state.topics.base, state.regions), state.storedAppliedCommands]
                // A clear that waited at a crash is carried out in the regions that came back.
                stored += [state.storedMonitoring(new.monitoring), state.storedClear]
                returned.append(next.count)
                next.append(state)
                continue
            }
            // A mode that a region switched to stays, unless the new settings change the mode.
            let monitoring =
                modes?[settings.topics.base]
                ?? (new.monitoring == former.monitoring ? old[origin].monitoring : new.monitoring)
            let state = old[origin].reconfigured(settings, monitoring: monitoring)
            // Regions and mode are stored under the topic of the tracker.
            let hasMoved = old[origin].topics != state.topics
            if hasMoved { stored += [.regions(topic: state.topics.base, state.regions), state.storedAppliedCommands] }
            if hasMoved { stored += TrackerState.forgotten(topic: old[origin].topics.base, setting: new.monitoring) }
            if hasMoved || new.monitoring != former.monitoring {
                stored.append(state.storedMonitoring(new.monitoring))
            }
            next.append(state)
        }
        let kept = Set(origins.compactMap(\.self))
        gone = old.indices.filter { !kept.contains($0) }.map {
            RemovedTracker(old[$0], setting: former.monitoring)
        }
        trackers = Trackers(next)
        newIndices = Self.newIndices(origins, count: old.count)
        abandoned = Self.abandonedStates(of: old, origins, new)
        (self.returned, self.stored) = (returned, stored)
        let continued = zip(new.trackers.indices, origins).filter { index, origin in
            origin.map { old[$0].configuration.waypoints == new.trackers[index].waypoints } == true
        }
        spared = modes == nil ? [] : Set(continued.map(\.0))
    }

    private static func newIndices(_ origins: [Int?], count: Int) -> [Int: Int]? {
        guard origins.count != count || origins.enumerated().contains(where: { $0.offset != $0.element }) else {
            return nil
        }
        var newIndices: [Int: Int] = [:]
        for (index, origin) in origins.enumerated() { if let origin { newIndices[origin] = index } }
        return newIndices
    }

    private static func abandonedStates(of old: Trackers, _ origins: [Int?], _ new: Configuration)
        -> [RegionAnnouncement]
    {
        let successors = Dictionary(origins.enumerated().compactMap { new, old in old.map { ($0, new) } }) { first, _ in
            first
        }
        return old.enumerated().flatMap { index, tracker -> [RegionAnnouncement] in
            let device = tracker.configuration.deviceID
            let successor = successors[index]
            guard successor.map({ new.trackers[$0].deviceID.hasSameBytes(as: device) }) != true else { return [] }
            return RegionAnnouncement.withdrawals(of: tracker.regions, device: device, sender: successor)
        }
    }
}

extension Trackers {
    /// For each tracker of other settings the index of the present tracker that it continues.
    ///
    /// - Parameter returning: As of the static function.
    func origins(of new: [TrackerConfiguration], returning: Set<ExactString>) -> [Int?] {
        Self.origins(of: new.map(\.topics.base), among: topics, returning: returning)
    }

    /// For each topic of a new tracker the index of the old tracker that it continues: the old tracker with the same
    /// topic, else the old tracker at the same index if its topic no longer exists (it got another topic).
    ///
    /// - Parameter returning: The topics of removed trackers. A tracker with one of these continues that one.
    package static func origins(of new: [String], among old: [String], returning: Set<ExactString>) -> [Int?] {
        let (after, before) = (new.map { ExactString($0) }, old.map { ExactString($0) })
        let known = Dictionary(before.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }
        let present = Set(after)
        return after.indices.map { index in
            if let same = known[after[index]] { return same }
            guard before.indices.contains(index), !present.contains(before[index]),
                !returning.contains(after[index])
            else { return nil }
            return index
        }
    }

    /// Withdrawals of the retained states of trackers that were removed, or got another device, while the service did not
    /// run. On a copied card these states belong to a gateway that still runs, so hardware that is not known to be the same withdraws nothing.
    func abandonedStates(before stored: StoredState) -> [RegionAnnouncement] {
        guard stored.isOnSameHardware == true else { return [] }
        let topics = stored.topics.isEmpty ? topics : stored.topics
        return stored.served.flatMap { topic, device -> [RegionAnnouncement] in
            let successor = topics.firstIndex { $0.hasSameBytes(as: topic) }
            guard let successor, indices.contains(successor) else {
                let former = stored.removed.first { $0.topic.hasSameBytes(as: topic) }
                return former.map {
                    RegionAnnouncement.withdrawals(of: $0.regions, device: device, sender: nil)
                } ?? []
            }
            guard !self[successor].configuration.deviceID.hasSameBytes(as: device) else { return [] }
            return RegionAnnouncement.withdrawals(of: self[successor].regions, device: device, sender: successor)
        }
    }
}
