import Base
import Gateway
import Runtime
import Storage

extension KeptPresence {
    /// The stored presence; nil if there is none, or if another version stored it.
    init?(in snapshot: StoreSnapshot, _ log: Log) {
        guard let record = snapshot.presence else { return nil }
        guard UInt8(exactly: record.version).map(Self.readableVersions.contains) == true,
            let kept = Self(bytes: record.state, changes: record.changes)
        else {
            log.warning("the stored presence has an unknown format (\(record.version)); all beacons enter again")
            return nil
        }
        self = kept
    }
}

extension PresenceUpdate {
    /// The representation of the store.
    func change(at now: MonotonicInstant) -> StoreChange {
        switch self {
        case .whole(let bytes): .presence(PresenceRecord(keptPresence: bytes, at: now))
        case .change(let bytes): .presenceChange(bytes)
        }
    }
}

extension PresenceRecord {
    /// - Parameter bytes: Presence in the representation of the core.
    init(keptPresence bytes: [UInt8], at now: MonotonicInstant) {
        self.init(version: Int64(KeptPresence.version), state: bytes, savedAt: now)
    }
}
