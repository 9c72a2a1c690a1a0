/// How often tags moved between a room and others. This shows which rooms have a door in common.
///
/// A level says little about which of two rooms behind walls a tag entered. That the tag can only get there through the hall
/// says more.
struct RoomExits: Sendable {
    struct Exit: Sendable, BitwiseCopyable {
        var room: RoomIndex
        var count: Float
    }

    /// Largest number of rooms that are counted separately; the rarest is replaced.
    static let most = 12
    /// Above this number of changes all counts are halved, so that a rebuilt house is learned anew.
    static let mostChanges: Float = 200

    private(set) var exits: [Exit] = []
    /// Sum over all rooms.
    private(set) var changes: Float = 0

    mutating func count(_ room: RoomIndex, _ weight: Float) {
        guard weight > 0 else { return }
        if let index = exits.firstIndex(where: { $0.room == room }) {
            exits[index].count += weight
        } else {
            if exits.count >= Self.most, let rarest = exits.indices.min(by: { exits[$0].count < exits[$1].count }) {
                exits.remove(at: rarest)
            }
            exits.append(Exit(room: room, count: weight))
        }
        changes = exits.reduce(0) { $0 + $1.count }
        guard changes > Self.mostChanges else { return }
        for index in exits.indices { exits[index].count /= 2 }
        changes /= 2
    }

    /// How often tags moved between the room and this one.
    func count(of room: RoomIndex) -> Float { exits.first { $0.room == room }?.count ?? 0 }

    /// The form that is stored.
    var kept: [LearnedSite.LearnedRoom.Exit] {
        exits.map { LearnedSite.LearnedRoom.Exit(room: $0.room.number, count: $0.count) }
    }

    /// Restores what was stored of a room. What is impossible is left out.
    ///
    /// - Parameter rooms: The index of each room of the `LearnedSite`; nil for one without an index.
    mutating func restore(_ exits: [LearnedSite.LearnedRoom.Exit], of room: RoomIndex, _ rooms: [RoomIndex?]) {
        for exit in exits.prefix(Self.most) where rooms.indices.contains(exit.room) {
            guard let target = rooms[exit.room], target != room, exit.count <= Self.mostChanges else { continue }
            count(target, exit.count)
        }
    }

    mutating func forget(_ room: RoomIndex) {
        exits.removeAll { $0.room == room }
        changes = exits.reduce(0) { $0 + $1.count }
    }

    mutating func removeAll() { self = RoomExits() }
}
