import SiteProtocol

/// A room as `Hearing` knows it. What was learned of it stands in `RoomKnowledge`, at the same index.
struct Room: Sendable {
    var name: RoomName
    /// The gateways in the room.
    var gateways: [GatewayIndex] = []
}
