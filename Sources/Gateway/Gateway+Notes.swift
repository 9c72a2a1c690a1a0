internal import Beacon
internal import OwnTracks
internal import Regions

/// Something to be told of one region. It is told as it is when its turn comes.
enum RegionNote: Hashable, Sendable {
    /// The retained state of a region.
    case state(tracker: Int, rid: String)
    /// The region itself, on `/waypoint`.
    case waypoint(tracker: Int, rid: String)
    /// The retained state of a region that is no more is emptied.
    case withdrawal(device: String, tracker: Int, rid: String)
}

/// Notes that wait. Ten thousand regions may come in one message: told in one turn, their states would
/// hold up the radio for longer than a tenth of a second, and fill what waits for the disk.
struct NoteQueue: Sendable {
    /// Notes that one turn tells: a few milliseconds of work on a slow machine. A change of that many
    /// regions is one transaction with all that is told of it.
    static let turn = 250
    /// Time between two turns.
    static let pause: Duration = .milliseconds(20)

    private var waiting: [RegionNote] = []
    private var first = 0
    /// When the next turn is due; nil: nothing waits.
    private(set) var due: MonotonicInstant?

    /// Adds notes at the end.
    mutating func add(_ notes: [RegionNote]) { waiting += notes }

    /// Forgets the states that wait: all are about to be told.
    mutating func forgetStates() {
        waiting = waiting[first...].filter { if case .state = $0 { false } else { true } }
        first = 0
    }

    /// What the turn at `now` tells.
    mutating func next(at now: MonotonicInstant) -> [RegionNote] {
        let end = min(first + Self.turn, waiting.count)
        let notes = Array(waiting[first..<end])
        first = end
        guard first == waiting.count else {
            due = now.advanced(by: Self.pause)
            return notes
        }
        (waiting, first, due) = ([], 0, nil)
        return notes
    }
}

extension Gateway {
    /// Tells of regions: at once, or the first now and the others in the turns that follow.
    mutating func tell(_ new: [RegionNote], at now: MonotonicInstant) -> [Effect] {
        guard !new.isEmpty else { return [] }
        notes.add(new)
        return notes.due == nil ? tellNotes(at: now) : []
    }

    /// Tells what is due.
    mutating func tellDueNotes(at now: MonotonicInstant) -> [Effect] {
        guard let due = notes.due, due <= now else { return [] }
        return tellNotes(at: now)
    }

    /// Tells what one turn may.
    mutating func tellNotes(at now: MonotonicInstant) -> [Effect] {
        notes.next(at: now).flatMap { note -> [Effect] in
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
                // The tracker may be gone by now; its message is not.
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
                kind: .state, tracker: tracker, topic: RegionState.topic(device: device, rid: rid), payload: [],
                qos: configuration.broker.qos, isRetained: true, isEncrypted: false))
    }
}
