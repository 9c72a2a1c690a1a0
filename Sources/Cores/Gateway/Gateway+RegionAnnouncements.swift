import Base
import Configuration
import OwnTracks
import Regions

extension Gateway {
    /// Publishes announcements of regions: the first now and the others in later turns. One message may contain ten
    /// thousand regions; published in one turn, their states would delay the radio for longer than a tenth of a second,
    /// and fill the queue of the store.
    mutating func publish(_ new: [RegionAnnouncement], at now: MonotonicInstant) -> [Effect] {
        guard !new.isEmpty else { return [] }
        announcements.add(new)
        return publish(turn: announcements.begin(at: now), at: now)
    }

    mutating func publishDueAnnouncements(at now: MonotonicInstant) -> [Effect] {
        let turn = announcements.nextIfDue(at: now)
        return turn.isEmpty ? [] : publish(turn: turn, at: now)
    }

    func publish(turn announcements: [RegionAnnouncement], at now: MonotonicInstant) -> [Effect] {
        announcements.flatMap { announcement -> [Effect] in
            switch announcement {
            case .state(let tracker, let rid):
                guard let region = region(rid, of: tracker), region.isBeacon else { return [] }
                return state(of: region, tracker: tracker, at: now)
            case .enter(let tracker, let rid):
                return region(rid, of: tracker).map { repeatedEnter(of: $0, tracker: tracker, at: now) } ?? []
            case .waypoint(let tracker, let rid):
                guard let region = region(rid, of: tracker) else { return [] }
                // Its `tst` is the region's own.
                return [
                    publish(
                        .other, of: tracker, on: trackers[tracker].topics.waypoint,
                        region.waypoint(base: configuration.numberBase), isTimeKnown: true, at: now)
                ]
            case .withdrawal(let device, let tracker, let rid):
                // The tracker may have been removed since.
                let sender = trackers.indices.contains(tracker) ? tracker : 0
                return [withdrawal(of: rid, device: device, tracker: sender)]
            }
        }
    }

    private func region(_ rid: String, of tracker: Int) -> Region? {
        trackers.indices.contains(tracker) ? trackers[tracker].regions[rid: rid] : nil
    }

    /// The announcements after a change of a tracker's regions.
    func announcements(of difference: RegionDifference, tracker: Int) -> [RegionAnnouncement] {
        var announcements: [RegionAnnouncement] = []
        // A region that no longer is a beacon region has no state.
        for region in difference.removed + difference.updated.filter({ !$0.isBeacon }) {
            let device = trackers[tracker].configuration.deviceID
            announcements.append(.withdrawal(device: device, tracker: tracker, rid: region.rid))
        }
        let present = difference.inserted + difference.updated
        for region in present where region.isBeacon { announcements.append(.state(tracker: tracker, rid: region.rid)) }
        // Home Assistant makes zones of these messages, so they are optional.
        if configuration.broker.publishesWaypoints {
            for region in present { announcements.append(.waypoint(tracker: tracker, rid: region.rid)) }
        }
        return announcements
    }

    /// Empties the retained state of a removed region.
    private func withdrawal(of rid: String, device: String, tracker: Int) -> Effect {
        .publish(
            Publication(
                .state, of: trackers[tracker].topics.base, topic: RegionState.topic(device: device, rid: rid),
                payload: [], qos: configuration.broker.qos, isRetained: true, happened: latest))
    }
}
