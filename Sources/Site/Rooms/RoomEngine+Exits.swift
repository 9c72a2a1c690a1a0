extension RoomEngine {
    /// Counts a tag's move from one room to another, in both directions: doors are passed both ways.
    mutating func countChange(from: RoomIndex, to: RoomIndex, weight: Float) {
        guard from != to else { return }
        rooms[from].exits.count(to, weight)
        rooms[to].exits.count(from, weight)
    }

    /// Forgets all moves of tags from and to the room.
    mutating func forgetExits(of room: RoomIndex) {
        for other in rooms.indices { rooms[other].exits.forget(room) }
        rooms[room].exits.removeAll()
    }

    /// Fills `scratch.arriving`: for each weighed room, the probability that a tag that changes its room now comes there.
    /// Without learned moves, all rooms are equally probable.
    mutating func weighArrivals(of tag: TagIndex) {
        let rooms = scratch.rooms
        let others = Float(max(1, rooms.count - 1))
        scratch.arriving.removeAll(keepingCapacity: true)
        for _ in rooms { scratch.arriving.append(0) }
        var common: Float = 0
        for place in rooms.indices {
            let before = scratch.before[place]
            let changes = self.rooms[rooms[place]].exits.changes
            let unit = before / (changes + tuning.exitPrior)
            common += unit * tuning.exitPrior / others
            scratch.arriving[place] -= unit * tuning.exitPrior / others
            guard changes > 0 else { continue }
            for exit in self.rooms[rooms[place]].exits.exits {
                guard let target = rooms.firstIndex(of: exit.room) else { continue }
                scratch.arriving[target] += unit * exit.count
            }
        }
        for place in rooms.indices { scratch.arriving[place] = max(0, scratch.arriving[place] + common) }
    }
}
