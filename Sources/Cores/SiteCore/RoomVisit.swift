package import SiteProtocol

/// The beginning or the end of a tag's stay in a room, for the history.
package struct RoomVisit: Hashable, Sendable {
    package enum Event: Hashable, Sendable { case begins, ends }

    package let event: Event
    package let tag: TagIdentity
    package let room: RoomName
    /// Epoch seconds.
    package let timestamp: Int64

    init(_ event: Event, _ tag: TagIdentity, _ room: RoomName, _ timestamp: Int64) {
        (self.event, self.tag, self.room, self.timestamp) = (event, tag, room, timestamp)
    }
}
