/// In which rooms one tag may be.
struct Belief: Sendable {
    /// The probabilities add up to 1 unless the list is empty.
    private(set) var rooms: [RoomBelief] = []

    func probability(of room: RoomIndex) -> Float { rooms.first { $0.room == room }?.probability ?? 0 }

    func support(of room: RoomIndex) -> Int16 { rooms.first { $0.room == room }?.support ?? 0 }

    /// The first of the most probable rooms; nil if nothing is believed.
    @inline(__always)
    var best: RoomBelief? {
        guard var best = rooms.first else { return nil }
        for belief in rooms where belief.probability > best.probability { best = belief }
        return best
    }

    mutating func forget() { rooms = [] }

    /// Forgets a room, whose index another room gets.
    mutating func remove(_ room: RoomIndex) { rooms.removeAll { $0.room == room } }

    /// The tag is in this room: a person says so, or it was reported before the start.
    mutating func settle(on room: RoomIndex) { rooms = [RoomBelief(room: room, support: 0, probability: 1)] }

    /// Replaces the rooms. This reuses the memory, which is no larger than needed.
    mutating func replace(by new: [RoomBelief]) {
        if rooms.count != new.count {
            rooms.removeAll(keepingCapacity: true)
            rooms.reserveCapacity(new.count)
            for belief in new { rooms.append(belief) }
        } else {
            for index in new.indices { rooms[index] = new[index] }
        }
    }
}
