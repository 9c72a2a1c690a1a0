import Rooms
import SiteProtocol

/// Rooms as literals, for tests.
extension RoomName {
    /// - Parameter name: One that is the name of a room.
    static func named(_ name: String) -> RoomName {
        guard let room = RoomName(name) else { preconditionFailure("'\(name)' is not the name of a room") }
        return room
    }
}

extension RoomEngine.Input {
    static func card(gateway: String, room: String, isConfigured: Bool = false) -> Self {
        .card(gateway: gateway, room: RoomName.named(room), isConfigured: isConfigured)
    }

    static func learn(room: String, tag: String, _ duration: Duration) -> Self {
        .learn(room: RoomName.named(room), tag: tag, duration)
    }
}
