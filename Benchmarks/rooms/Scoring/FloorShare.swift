import RoomRules

/// For how much of the time a tag is reported on another floor than the one where it is.
struct FloorShare {
    /// Share of the seconds in which the reported room is on another floor, 0 … 1.
    private(set) var wrong = 0.0
    /// The part of it within 15 s after a change of the floor.
    private(set) var late = 0.0
    /// Changes of the floor in an hour.
    private(set) var changes = 0.0

    init(_ stays: [Session.Stay], _ reports: [Report], _ plan: FloorPlan) {
        guard let first = stays.first, let last = stays.last else { return }
        func floor(of room: Int) -> Int? { plan.rooms.indices.contains(room) ? plan.rooms[room].floor : nil }
        var (next, room, stay, seconds) = (0, -1, 0, 0.0)
        var changed = -Double.infinity
        var second = first.from.rounded(.up)
        while second <= last.to {
            while next < reports.count, reports[next].time <= second {
                room = reports[next].room
                next += 1
            }
            while stay + 1 < stays.count, stays[stay + 1].from <= second {
                stay += 1
                if floor(of: stays[stay].room) != floor(of: stays[stay - 1].room) {
                    changed = stays[stay].from
                    changes += 1
                }
            }
            seconds += 1
            if let reported = floor(of: room), let real = floor(of: stays[stay].room), reported != real {
                wrong += 1
                if second - changed < 15 { late += 1 }
            }
            second += 1
        }
        seconds = max(1, seconds)
        (wrong, late, changes) = (wrong / seconds, late / seconds, changes / seconds * 3600)
    }
}
