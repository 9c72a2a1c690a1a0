import Rooms
import RoomsSupport
import SiteProtocol

/// What the engine is told of the floors of a random home.
enum FloorKnowledge: String, CaseIterable {
    case nothing = "without floors"
    case floors
    case stairs = "floors and stairs"

    /// By room. The rooms at both ends of the stairs have the stairs.
    func told(of plan: FloorPlan) -> [RoomName: RoomFloor] {
        guard self != .nothing else { return [:] }
        var told: [RoomName: RoomFloor] = [:]
        for (index, room) in plan.rooms.enumerated() {
            let leads = plan.doors.contains {
                ($0.from == index || $0.to == index) && plan.rooms[$0.from].floor != plan.rooms[$0.to].floor
            }
            told[.named(room.name)] = RoomFloor(floor: room.floor, isStairs: self == .stairs && leads)
        }
        return told
    }
}
