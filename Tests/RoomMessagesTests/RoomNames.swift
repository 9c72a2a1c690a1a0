import Beacon
import SiteProtocol

extension RoomName {
    /// - Parameter name: One that is the name of a room.
    static func named(_ name: String) -> RoomName {
        guard let room = RoomName(name) else { preconditionFailure("'\(name)' is not the name of a room") }
        return room
    }
}

extension GatewayCard {
    init(
        room: String, phones: [BeaconUUID] = [], adapters: [DeviceAddress] = [], source: DeviceAddress? = nil
    ) {
        self.init(room: RoomName.named(room), phones: phones, adapters: adapters, source: source)
    }
}
