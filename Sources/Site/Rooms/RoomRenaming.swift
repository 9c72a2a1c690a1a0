import Base
import SiteProtocol

/// Tells a room that is renamed from a gateway that moves.
enum RoomRenaming {
    /// The trained room that gets another name because its only gateway names another room: then the training stays right. A gateway that is
    /// carried into another room looks the same. If the other room has a gateway or is trained, it stays another room.
    ///
    /// - Returns: nil if no room is renamed.
    static func room(
        of gateway: GatewayIndex, to name: String, _ hearing: Hearing, _ learning: Learning, at now: MonotonicInstant
    ) -> RoomIndex? {
        // A card of a gateway that does not count must not change anything.
        guard hearing.gateways[gateway].isKnown, let room = hearing.gateways[gateway].room,
            hearing.rooms[room].gateways == [gateway], learning.rooms[room].labelled.count > 0
        else { return nil }
        guard let other = hearing.room(withID: RoomName.id(of: name)) else { return room }
        let isFree =
            hearing.rooms[other].gateways.isEmpty && !learning.rooms[other].isLearned
            && !learning.trainedRooms(at: now).contains(other)
        return isFree ? room : nil
    }
}
