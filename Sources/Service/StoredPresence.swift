import Base
import Gateway
import Runtime
import Storage

extension Service {
    /// The presence that was stored; nil if there is none, or if another version stored it.
    func storedPresence(in snapshot: StoreSnapshot) -> KeptPresence? {
        guard let record = snapshot.presence else { return nil }
        guard record.version == Int64(KeptPresence.version),
            let kept = KeptPresence(bytes: record.state, changes: record.changes)
        else {
            log.warning("who was inside cannot be read from the state (form \(record.version)); all enter anew")
            return nil
        }
        return kept
    }
}

extension PresenceUpdate.Whole {
    /// As the store has it.
    func record(at now: MonotonicInstant) -> PresenceRecord {
        PresenceRecord(version: Int64(KeptPresence.version), state: bytes, inside: inside.map(\.row), savedAt: now)
    }
}

extension PresenceUpdate {
    /// As the store has it.
    func change(at now: MonotonicInstant) -> StoreChange {
        switch self {
        case .whole(let whole): .presence(whole.record(at: now))
        case .change(let change):
            .presenceChange(
                PresenceChange(
                    state: change.bytes, entered: change.entered.map(\.row),
                    left: change.left.map { PresenceRecord.Place(tracker: $0.topic, rid: $0.rid) }))
        }
    }
}

extension PresenceUpdate.Inside {
    fileprivate var row: PresenceRecord.Inside {
        PresenceRecord.Inside(tracker: place.topic, rid: place.rid, beacon: beacon, since: since, lastHeard: nil)
    }
}
