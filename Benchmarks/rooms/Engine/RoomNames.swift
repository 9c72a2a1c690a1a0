import Rooms
import SiteProtocol

extension RoomEngine.Input {
    /// - Parameter room: The name of a room of the recording.
    static func card(gateway: String, room: String) -> Self { .card(gateway: gateway, room: Self.name(room)) }

    /// - Parameter room: The name of a room of the recording.
    static func learn(room: String, tag: String, _ duration: Duration) -> Self {
        .learn(room: Self.name(room), tag: tag, duration)
    }

    private static func name(_ text: String) -> RoomName {
        guard let name = RoomName(text) else { preconditionFailure("'\(text)' is not the name of a room") }
        return name
    }
}
