/// How often tags went between a room and others: rooms that have a door in common.
///
/// A level says little about which of two rooms behind walls a tag went to. That it cannot have come there without
/// passing the hall says more.
struct RoomExits: Sendable {
    struct Exit: Sendable, BitwiseCopyable {
        var room: RoomIndex
        var count: Float
    }

    /// Rooms that are told apart; the rarest gives way.
    static let most = 12
    /// With more changes than this all count half, so that a house that is rebuilt is learned anew.
    static let mostChanges: Float = 200

    private(set) var exits: [Exit] = []
    /// Of all rooms.
    private(set) var changes: Float = 0

    mutating func count(_ room: RoomIndex, _ weight: Float) {
        guard weight > 0 else { return }
        if let place = exits.firstIndex(where: { $0.room == room }) {
            exits[place].count += weight
        } else {
            if exits.count >= Self.most, let rarest = exits.indices.min(by: { exits[$0].count < exits[$1].count }) {
                exits.remove(at: rarest)
            }
            exits.append(Exit(room: room, count: weight))
        }
        changes = exits.reduce(0) { $0 + $1.count }
        guard changes > Self.mostChanges else { return }
        for place in exits.indices { exits[place].count /= 2 }
        changes /= 2
    }

    mutating func forget(_ room: RoomIndex) {
        exits.removeAll { $0.room == room }
        changes = exits.reduce(0) { $0 + $1.count }
    }

    mutating func removeAll() { self = RoomExits() }
}
