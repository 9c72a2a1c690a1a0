internal import Beacon
internal import OwnTracks
internal import Presence
internal import Regions

extension Gateway {
    /// Puts another configuration in force. Regions and presence stay with their trackers.
    mutating func reconfigure(_ new: Configuration, at now: MonotonicInstant) -> [Effect] {
        let origins = origins(of: new.trackers)
        var effects: [Effect] = []
        var states = new.trackers.map { TrackerState($0, monitoring: new.monitoring) }
        for (position, origin) in origins.enumerated() {
            guard let origin else { continue }
            let old = trackers[origin]
            states[position].regions = old.regions
            states[position].occupancy = old.occupancy
            // A mode that a region switched to stays, unless the settings themselves name another.
            if new.monitoring == configuration.monitoring { states[position].monitoring = old.monitoring }
            // What is kept, is kept under the topic of the tracker.
            let hasMoved = old.topics.base != states[position].topics.base
            if hasMoved { effects.append(.regions(tracker: position, old.regions)) }
            if hasMoved || old.monitoring != states[position].monitoring {
                effects.append(.monitoring(tracker: position, states[position].monitoring))
            }
        }
        let abandoned = abandonedStates(origins, new.trackers)
        renameTrackers(origins)
        configuration = new
        trackers = states
        ranging = RangingThrottle(interval: new.rangingInterval)
        effects += mergeConfiguredRegions(at: now)
        return effects + tell(abandoned, at: now) + announce(at: now, isAgain: false)
    }

    /// Which tracker each of the new ones was: the one with its topic; of those that have none, the one in
    /// its place, if its topic has gone. That one was given another topic.
    private func origins(of new: [TrackerConfiguration]) -> [Int?] {
        let before = trackers.map(\.topics.base)
        let after = new.map(\.topics.base)
        return after.indices.map { position in
            if let same = before.firstIndex(of: after[position]) { return same }
            guard before.indices.contains(position), !after.contains(before[position]) else { return nil }
            return position
        }
    }

    /// The engine knows trackers by their position.
    private mutating func renameTrackers(_ origins: [Int?]) {
        guard origins.count != trackers.count || origins.enumerated().contains(where: { $0.offset != $0.element })
        else { return }
        var positions: [Int: Int] = [:]
        for (position, origin) in origins.enumerated() { if let origin { positions[origin] = position } }
        engine.rename { key in
            // A tracker that is no more keeps a key that no other has, and is left by nobody's name.
            RegionKey(tracker: positions[key.tracker] ?? -1 - key.tracker, rid: key.rid)
        }
    }

    /// The retained states of trackers that are no more, or now have another device.
    private func abandonedStates(_ origins: [Int?], _ new: [TrackerConfiguration]) -> [RegionNote] {
        trackers.indices.flatMap { position -> [RegionNote] in
            let device = trackers[position].configuration.deviceID
            let successor = origins.firstIndex(of: position)
            guard successor.map({ new[$0].deviceID }) != device else { return [] }
            return trackers[position].regions.regions.filter(\.isBeacon).map {
                .withdrawal(device: device, tracker: successor ?? 0, rid: $0.rid)
            }
        }
    }
}
