import Base
import Beacon
import Configuration
import OwnTracks
import Regions

extension Gateway {
    /// Publishes what is to be known of regions: the first now and the others in the turns that follow. Ten thousand
    /// regions may come in one message; published in one turn, their states would hold up the radio for longer than a
    /// tenth of a second, and fill what waits for the disk.
    mutating func publish(_ new: [RegionNote], at now: MonotonicInstant) -> [Effect] {
        guard !new.isEmpty else { return [] }
        announcements.add(new)
        return publish(turn: announcements.begin(at: now), at: now)
    }

    mutating func publishDueAnnouncements(at now: MonotonicInstant) -> [Effect] {
        publish(turn: announcements.nextIfDue(at: now), at: now)
    }

    func publish(turn notes: [RegionNote], at now: MonotonicInstant) -> [Effect] {
        notes.flatMap { note -> [Effect] in
            switch note {
            case .state(let tracker, let rid):
                guard let region = region(rid, of: tracker), region.isBeacon else { return [] }
                return state(of: region, tracker: tracker, at: now)
            case .waypoint(let tracker, let rid):
                guard let region = region(rid, of: tracker) else { return [] }
                return [
                    publish(
                        .reply, of: tracker, on: trackers[tracker].topics.waypoint,
                        region.waypoint(base: configuration.numberBase), at: now)
                ]
            case .withdrawal(let device, let tracker, let rid):
                // The tracker may have been removed meanwhile.
                let sender = trackers.indices.contains(tracker) ? tracker : 0
                return [withdrawal(of: rid, device: device, tracker: sender)]
            }
        }
    }

    private func region(_ rid: String, of tracker: Int) -> Region? {
        trackers.indices.contains(tracker) ? trackers[tracker].regions[rid: rid] : nil
    }

    /// What there is to tell of a change of a tracker's regions.
    func notes(of difference: RegionDifference, tracker: Int) -> [RegionNote] {
        var notes: [RegionNote] = []
        // What is a beacon region no more has no state to show.
        for region in difference.removed + difference.updated.filter({ !$0.isBeacon }) {
            let device = trackers[tracker].configuration.deviceID
            notes.append(.withdrawal(device: device, tracker: tracker, rid: region.rid))
        }
        let present = difference.inserted + difference.updated
        for region in present where region.isBeacon { notes.append(.state(tracker: tracker, rid: region.rid)) }
        // Home Assistant makes zones of what it finds there, so only if asked.
        if configuration.broker.publishesWaypoints {
            for region in present { notes.append(.waypoint(tracker: tracker, rid: region.rid)) }
        }
        return notes
    }

    /// Empties the retained state of a region that is no more.
    private func withdrawal(of rid: String, device: String, tracker: Int) -> Effect {
        .publish(
            Message(
                kind: .state, base: trackers[tracker].topics.base, topic: RegionState.topic(device: device, rid: rid),
                payload: [],
                qos: configuration.broker.qos, isRetained: true, isEncrypted: false))
    }
}
