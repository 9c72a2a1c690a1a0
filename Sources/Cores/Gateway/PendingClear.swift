package import Base
import JSON
import OwnTracks

/// The regions that a tracker was inside when `clearWaypoints` came. They are removed a little later, unless a `setWaypoints`
/// brings them back before: whoever replaces all regions by these two commands did not leave.
struct PendingClear: Hashable, Sendable {
    /// How long they wait.
    static let delay: Duration = .seconds(1)

    let due: MonotonicInstant
    var rids: Set<ExactString>

    /// The `rid`s as a JSON array for the store.
    var bytes: [UInt8] { JSONValue.array(rids.sorted().map { .string($0.text) }).bytes }
}

extension Gateway {
    /// The key in the store under which a clear waits, for the tracker with this base topic.
    package static func pendingClearKey(of topic: String) -> String { "pending clear \(topic)" }

    /// The `rid`s of the value under `pendingClearKey`.
    package static func pendingClear(_ bytes: [UInt8]) -> Set<ExactString> {
        let rids = (try? JSONValue(parsing: bytes))?.array ?? []
        return Set(rids.compactMap { $0.string.map { ExactString($0) } })
    }
}

extension TrackerState {
    /// Stores what waits, in the decision that changes it: after a crash it is carried out.
    var storedClear: Effect {
        let key = Gateway.pendingClearKey(of: topics.base)
        return pendingClear.map { .value(key: key, $0.bytes) } ?? .forget(key: key)
    }
}
