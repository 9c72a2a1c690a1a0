import Glibc

/// A person who walks through a house by its doors, rests, and leaves it now and then.
struct Walker {
    private(set) var room: Int
    private(set) var position: Point
    private(set) var isAway = false
    /// Direction of the latest step, radians.
    private(set) var heading = 0.0
    /// Metres per second.
    var speed = 1.0
    /// Mean rest, seconds.
    var meanRest = 240.0
    /// Where it goes: each room as often as it is preferred.
    var destinations: [Int]
    private var waypoints: [(point: Point, room: Int)] = []
    private var restsUntil = 0.0

    init(_ plan: FloorPlan, room: Int, _ random: inout Random) {
        self.room = room
        destinations = Array(plan.rooms.indices)
        position = plan.somewhere(in: room, &random)
    }

    var isWalking: Bool { !waypoints.isEmpty }

    mutating func rest(until time: Double) { restsUntil = time }

    /// Chooses a way when the rest is over.
    mutating func decide(_ plan: FloorPlan, at time: Double, leavesHome: Bool, _ random: inout Random) {
        guard waypoints.isEmpty, time >= restsUntil else { return }
        if isAway {
            isAway = false
            room = 0
            position = plan.somewhere(in: 0, &random)
        } else if leavesHome, room == 0, random.uniform() < 0.1 {
            isAway = true
            restsUntil = time + 900 + random.exponential(mean: 3600)
            return
        }
        let target = destinations[random.below(destinations.count)]
        let path = plan.path(from: room, to: target)
        for (from, to) in zip(path, path.dropFirst()) {
            if let door = plan.door(from, to) { waypoints.append((door, from)) }
            // Behind stairs one is on another floor at once.
            waypoints.append((plan.somewhere(in: to, &random), to))
        }
        waypoints.append((plan.somewhere(in: target, &random), target))
    }

    /// One second on the way to the next waypoint.
    mutating func step(at time: Double, _ random: inout Random) {
        guard let next = waypoints.first else { return }
        room = next.room
        position.floor = next.point.floor
        let distance = position.distance(to: next.point)
        if distance > 0 { heading = atan2(next.point.y - position.y, next.point.x - position.x) }
        if distance <= speed {
            position = next.point
            waypoints.removeFirst()
            if waypoints.isEmpty { restsUntil = time + 10 + random.exponential(mean: meanRest) }
        } else {
            position.x += (next.point.x - position.x) / distance * speed
            position.y += (next.point.y - position.y) / distance * speed
        }
    }

    /// Puts it somewhere in a room, where it stays until the next time.
    mutating func carry(to room: Int, _ plan: FloorPlan, _ random: inout Random) {
        self.room = room
        position = plan.somewhere(in: room, &random)
        waypoints = []
        restsUntil = .infinity
    }

    /// Walks to another place of the room.
    mutating func stroll(_ plan: FloorPlan, _ random: inout Random) {
        waypoints = [(plan.somewhere(in: room, &random), room)]
    }
}
