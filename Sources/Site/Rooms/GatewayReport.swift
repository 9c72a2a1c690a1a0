package import Base
package import SiteProtocol

/// What is known about one gateway.
package struct GatewayReport: Sendable {
    package var name: String
    /// Its room; nil if unknown.
    package var room: RoomName?
    /// Whether its silence about a tag is evidence: it is connected and listening.
    package var isListening: Bool
    /// nil if it has sent no message since the start.
    package var lastMessage: MonotonicInstant?

    /// nil for a gateway that has no room and does not listen.
    init?(_ gateway: GatewayState, in room: RoomName?) {
        guard room != nil || gateway.isListening else { return nil }
        (name, self.room) = (gateway.name, room)
        (isListening, lastMessage) = (gateway.isListening, gateway.lastMessage)
    }
}
