package import JSON
package import Regions

/// `_type: transition`, the message that a region was entered or left. Topic `/event`, never retained.
package struct Transition: Hashable, Sendable {
    package typealias Event = PastTransition.Event

    package var event: Event
    /// Whether the region is a circle (`t` is `c`) or has beacons (`b`).
    package var isCircular: Bool
    /// The region's name up to its first `|`, with its leading `-`.
    package var description: String
    package var rid: String
    package var trackerID: String
    package var position: Position
    /// When it happened (for a leave: when it was decided), epoch seconds.
    package var timestamp: Int64
    /// When the region was created, epoch seconds (`wtst`).
    package var regionTimestamp: Int64
    /// When the message was made, epoch seconds. It is set once, so that a repeat has the same bytes.
    package var createdAt: Int64

    package init(
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
