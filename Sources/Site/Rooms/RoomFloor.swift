/// Where a room is in the house, as people say.
package struct RoomFloor: Hashable, Sendable {
    /// 0 is the ground floor; nil: unknown, so that no rule applies.
    package var floor: Int?
    /// Whether one reaches another floor through the room.
    package var isStairs: Bool

    package init(floor: Int? = nil, isStairs: Bool = false) { (self.floor, self.isStairs) = (floor, isStairs) }
}
