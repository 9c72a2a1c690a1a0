package import JSON
public import Regions

/// `_type: transition`, the message that a region was entered or left. Topic `/event`, never retained.
public struct Transition: Hashable, Sendable {
    /// What happened to the region.
    public typealias Event = TransitionEvent

    /// Enter or leave.
    public var event: Event
    /// Whether the region is a circle (`t` is `c`) or has beacons (`b`).
    public var isCircular: Bool
    /// The region's name up to its first `|`, with its leading `-`.
    public var description: String
    /// The region's key.
    public var rid: String
    /// The tracker's short name on a map (`tid`).
    public var trackerID: String
    /// Where the tracker is (`lat`, `lon`, `acc`).
    public var position: Position
    /// When it happened (for a leave: when it was decided), epoch seconds.
    public var timestamp: Int64
    /// When the region was created, epoch seconds (`wtst`).
    public var regionTimestamp: Int64
    /// When the message was made, epoch seconds. It is set once, so that a repeat has the same bytes.
    public var createdAt: Int64

    /// - Parameters:
    ///   - event: Enter or leave.
    ///   - region: Gives `desc`, `rid`, `wtst` and `t`.
    ///   - trackerID: The tracker's short name on a map.
    ///   - position: Where the tracker is.
    ///   - timestamp: When it happened, epoch seconds.
    ///   - createdAt: When the message was made, epoch seconds. More than a second after `timestamp` it becomes a member of the message.
    public init(
        _ event: Event, of region: Region, trackerID: String, position: Position, timestamp: Int64, createdAt: Int64
    ) {
        self.event = event
        isCircular = region.kind == .circular
        description = region.displayName
        rid = region.rid
        self.trackerID = trackerID
        self.position = position
        self.timestamp = timestamp
        regionTimestamp = region.creationTimestamp
        self.createdAt = createdAt
    }

    /// The message: a JSON object with sorted keys, in UTF-8 without line breaks.
    public var text: String { payload.text }

    package var payload: JSONValue {
        var members = position.members
        members["_type"] = "transition"
        members["t"] = isCircular ? "c" : "b"
        members["event"] = .string(event.rawValue)
        members["desc"] = .string(description)
        members["tid"] = .string(trackerID)
        members["tst"] = .integer(timestamp)
        members["wtst"] = .integer(regionTimestamp)
        members["rid"] = .string(rid)
        members.setCreationTime(createdAt, after: timestamp)
        return .object(members)
    }
}

extension [String: JSONValue] {
    /// `created_at` shows that a message was made later than its event. Up to a second is not a delay.
    mutating func setCreationTime(_ createdAt: Int64, after timestamp: Int64) {
        if createdAt > timestamp.addingReportingOverflow(1).partialValue { self["created_at"] = .integer(createdAt) }
    }
}
