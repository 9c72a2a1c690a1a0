import Base
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
