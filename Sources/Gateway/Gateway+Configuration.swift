import Base
import Beacon
import Configuration
import OwnTracks
import Presence
import Regions

extension Gateway {
    /// Puts another configuration in force. Regions and presence stay with their trackers.
    mutating func reconfigure(_ new: Configuration, at now: MonotonicInstant) -> [Effect] {
        let origins = origins(of: new.trackers)
        var effects: [Effect] = []
        var states: [TrackerState] = []
        for (settings, origin) in zip(new.trackers, origins) {
            guard let origin else {
                var state = TrackerState(settings, monitoring: new.monitoring)
                state.lastLocation = now
                states.append(state)
                continue
            }
            let old = trackers[origin]
            // A mode that a region switched to stays, unless the settings themselves name another.
            let monitoring = new.monitoring == configuration.monitoring ? old.monitoring : new.monitoring
            let state = old.reconfigured(settings, monitoring: monitoring)
            // Regions and mode are stored under the topic of the tracker.
            let hasMoved = old.topics != state.topics
            if hasMoved { effects.append(.regions(topic: state.topics.base, old.regions)) }
            if hasMoved || old.monitoring != monitoring {
                effects.append(.monitoring(topic: state.topics.base, monitoring))
            }
            states.append(state)
        }
        let abandoned = abandonedStates(origins, new.trackers)
        renameTrackers(origins)
        configuration = new
        trackers = states
        ranging = RangingThrottle(interval: new.rangingInterval)
        effects += mergeConfiguredRegions(at: now)
        effects += publish(abandoned, at: now) + announce(at: now, isAgain: false)
        // There may be a tracker now for edits that wait.
        return effects + [.value(key: Self.servedTopicsKey, servedTopics), .rereadEdits]
    }

    /// Which tracker each of the new ones was: the one with its topic; of those that have none, the one in
    /// its place, if its topic has gone. That one was given another topic.
    private func origins(of new: [TrackerConfiguration]) -> [Int?] {
        let before = trackers.map(\.topics)
        let after = new.map(\.topics)
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
            // A tracker that was removed gets a key that no other has; its leaves are not published.
            RegionKey(tracker: positions[key.tracker] ?? -1 - key.tracker, rid: key.rid)
        }
        transitions.replace { transition in
            var renamed = transition
            guard let position = positions[transition.key.tracker] else { return nil }
            renamed.key = RegionKey(tracker: position, rid: transition.key.rid)
            return renamed
        }
    }

    /// The retained states of trackers that are no more, or now have another device.
    private func abandonedStates(_ origins: [Int?], _ new: [TrackerConfiguration]) -> [RegionNote] {
        trackers.indices.flatMap { position -> [RegionNote] in
            let device = trackers[position].configuration.deviceID
            let successor = origins.firstIndex(of: position)
            guard successor.map({ new[$0].deviceID.hasSameBytes(as: device) }) != true else { return [] }
            return trackers[position].regions.regions.filter(\.isBeacon).map {
                .withdrawal(device: device, tracker: successor ?? 0, rid: $0.rid)
            }
        }
    }
}
