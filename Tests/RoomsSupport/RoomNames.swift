package import Beacon
package import Rooms
package import SiteProtocol

/// Rooms as literals, for tests and benchmarks.
extension RoomName {
    /// - Parameter name: One that is the name of a room.
    package static func named(_ name: String) -> RoomName {
        guard let room = RoomName(name) else { preconditionFailure("'\(name)' is not the name of a room") }
        return room
    }
}

extension GatewayCard {
    /// - Parameter room: The name of a room.
    package init(
        room: String, phones: [BeaconUUID] = [], adapters: [DeviceAddress] = [], source: DeviceAddress? = nil
    ) {
        self.init(room: RoomName.named(room), phones: phones, adapters: adapters, source: source)
    }
}

extension RoomEngine.Input {
    /// - Parameter room: The name of a room.
    package static func card(gateway: String, room: String, isConfigured: Bool = false) -> Self {
        .card(gateway: gateway, room: RoomName.named(room), isConfigured: isConfigured)
    }

    /// - Parameter room: The name of a room.
    package static func learn(room: String, tag: String, _ duration: Duration) -> Self {
        .learn(room: RoomName.named(room), tag: tag, duration)
    }
}
