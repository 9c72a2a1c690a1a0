import Glibc

extension FloorPlan {
    /// A random house: each floor is a rectangle that is divided until it has its rooms.
    ///
    /// - Parameter area: Mean of a room, m².
    init(rooms count: Int, floors: Int, area: Double, _ random: inout Random) {
        let most = (count + floors - 1) / floors
        let width = sqrt(area * Double(most) * (1 + random.uniform()))
        let depth = area * Double(most) / width
        var rooms: [Place] = []
        var doors: [Door] = []
        for floor in 0..<floors {
            let here = count / floors + (floor < count % floors ? 1 : 0)
            let first = rooms.count
            for (x, y) in Self.divide((0...width, 0...depth), into: here, &random) {
                rooms.append(
                    Place(
                        name: "Room \(rooms.count + 1)", floor: floor, x: x, y: y,
                        gateway: Self.nearWall(x, y, floor, &random)))
            }
            doors += Self.doors(of: rooms, from: first, &random)
            if floor > 0 { doors.append(Self.stairs(to: floor, rooms, &random)) }
        }
        self.init(rooms: rooms, doors: doors)
    }

    /// A place for a receiver: at a wall, where sockets are.
    static func nearWall(
        _ x: ClosedRange<Double>, _ y: ClosedRange<Double>, _ floor: Int, _ random: inout Random
    ) -> Point {
        let along = 0.1 + 0.8 * random.uniform()
        let wall = random.below(4)
        func at(_ share: Double, _ range: ClosedRange<Double>) -> Double {
            range.lowerBound + share * (range.upperBound - range.lowerBound)
        }
        return switch wall {
        case 0: Point(x: x.lowerBound + 0.1, y: at(along, y), floor: floor)
        case 1: Point(x: x.upperBound - 0.1, y: at(along, y), floor: floor)
        case 2: Point(x: at(along, x), y: y.lowerBound + 0.1, floor: floor)
        default: Point(x: at(along, x), y: y.upperBound - 0.1, floor: floor)
        }
    }

    private typealias Rectangle = (x: ClosedRange<Double>, y: ClosedRange<Double>)

    /// Divides the largest rectangle across its longer side until there are enough.
    private static func divide(_ whole: Rectangle, into count: Int, _ random: inout Random) -> [Rectangle] {
        var parts = [whole]
        func length(_ range: ClosedRange<Double>) -> Double { range.upperBound - range.lowerBound }
        while parts.count < count {
            guard
                let index = parts.indices.max(by: {
                    length(parts[$0].x) * length(parts[$0].y)
                        < length(parts[$1].x) * length(parts[$1].y)
                })
            else { break }
            let (x, y) = parts[index]
            let share = 0.35 + 0.3 * random.uniform()
            if length(x) >= length(y) {
                let wall = x.lowerBound + share * length(x)
                parts[index] = (x.lowerBound...wall, y)
                parts.append((wall...x.upperBound, y))
            } else {
                let wall = y.lowerBound + share * length(y)
                parts[index] = (x, y.lowerBound...wall)
                parts.append((x, wall...y.upperBound))
            }
        }
        return parts
    }

    /// Doors of a floor: each room can be reached, and one in four other walls has a door, too.
    private static func doors(of rooms: [Place], from first: Int, _ random: inout Random) -> [Door] {
        var possible: [Door] = []
        for one in first..<rooms.count {
            for other in one + 1..<rooms.count {
                guard let x = common(rooms[one].x, rooms[other].x), let y = common(rooms[one].y, rooms[other].y)
                else { continue }
                let (width, depth) = (x.upperBound - x.lowerBound, y.upperBound - y.lowerBound)
                // They touch, over more than the width of a door.
                guard min(width, depth) < 1e-9, max(width, depth) > 0.9 else { continue }
                let middle = Point(
                    x: (x.lowerBound + x.upperBound) / 2, y: (y.lowerBound + y.upperBound) / 2, floor: rooms[one].floor)
                possible.append((one, other, middle))
            }
        }
        possible.shuffle(using: &random)
        var group = Array(rooms.indices)
        return possible.filter { door in
            let isNew = group[door.from] != group[door.to]
            let (kept, merged) = (group[door.from], group[door.to])
            group = group.map { $0 == merged ? kept : $0 }
            return isNew || random.uniform() < 0.25
        }
    }

    /// Stairs from the floor below, between two rooms of which one lies above the other.
    private static func stairs(to floor: Int, _ rooms: [Place], _ random: inout Random) -> Door {
        var possible: [Door] = []
        for lower in rooms.indices where rooms[lower].floor == floor - 1 {
            for upper in rooms.indices where rooms[upper].floor == floor {
                guard let x = common(rooms[lower].x, rooms[upper].x), let y = common(rooms[lower].y, rooms[upper].y)
                else { continue }
                let middle = Point(
                    x: (x.lowerBound + x.upperBound) / 2, y: (y.lowerBound + y.upperBound) / 2, floor: floor - 1)
                possible.append((lower, upper, middle))
            }
        }
        return possible[random.below(possible.count)]
    }

    private static func common(_ one: ClosedRange<Double>, _ other: ClosedRange<Double>) -> ClosedRange<Double>? {
        let (low, high) = (max(one.lowerBound, other.lowerBound), min(one.upperBound, other.upperBound))
        return low <= high ? low...high : nil
    }
}
