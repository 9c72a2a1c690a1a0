extension RoomEngine {
    /// The rooms that the tag may be in, with their probabilities.
    package func belief(ofTag tag: Int) -> [(room: RoomName, probability: Float)] {
        guard states.indices.contains(tag) else { return [] }
        return states[tag].belief.map { (rooms[Int($0.room)].name, $0.probability) }
    }
}

extension RoomEngine {
    /// Whether it is known where the gateway stands.
    package func hasRoom(gateway: String) -> Bool { roomID(ofGateway: gateway) != nil }

    /// The id of the room that the gateway stands in.
    package func roomID(ofGateway gateway: String) -> String? {
        guard let place = gatewayPlaces[gateway], gateways[place].room >= 0 else { return nil }
        return rooms[Int(gateways[place].room)].name.id
    }
}
