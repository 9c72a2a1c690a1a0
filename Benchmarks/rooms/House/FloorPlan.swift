import Glibc

struct Point: Hashable {
    var x = 0.0
    var y = 0.0
    var floor = 0

    /// Metres; a floor is 2.8 m high.
    func distance(to other: Point) -> Double {
        let height = Double(floor - other.floor) * 2.8
        return sqrt((x - other.x) * (x - other.x) + (y - other.y) * (y - other.y) + height * height)
    }
}

/// Rooms with the doors between them.
struct FloorPlan {
    struct Place {
        var name: String
        var floor: Int
        var x: ClosedRange<Double>
        var y: ClosedRange<Double>
        var gateway: Point
    }

    /// A door or stairs: two rooms, and where one passes.
    typealias Door = (from: Int, to: Int, at: Point)

    let rooms: [Place]
    /// Walls between two rooms of one floor: those of the way by the doors. Empty where they are not known.
    private var walls: [[Int]] = []
    let doors: [Door]

    init(rooms: [Place], doors: [Door]) { (self.rooms, self.doors) = (rooms, doors) }

    /// Three floors, eight rooms, a gateway in each.
    init() {
        func room(_ name: String, _ floor: Int, _ x: ClosedRange<Double>, _ y: ClosedRange<Double>) -> Place {
            // Near a wall, where the socket is.
            let gateway = Point(
                x: x.lowerBound + 0.4, y: y.lowerBound + 0.3 * (y.upperBound - y.lowerBound), floor: floor)
            return Place(name: name, floor: floor, x: x, y: y, gateway: gateway)
        }
        rooms = [
            room("Hall", 0, 0...2.5, 0...8), room("Kitchen", 0, 2.5...6.5, 0...4), room("Living", 0, 2.5...9, 4...8),
            room("Landing", 1, 0...2.5, 0...8), room("Bedroom", 1, 2.5...6.5, 0...4), room("Bath", 1, 2.5...6, 4...8),
            room("Study", 2, 0...4.5, 0...8), room("Guest", 2, 4.5...9, 0...8),
        ]
        doors = [
            (0, 1, Point(x: 2.5, y: 2, floor: 0)), (0, 2, Point(x: 2.5, y: 6, floor: 0)),
            (1, 2, Point(x: 4.5, y: 4, floor: 0)), (0, 3, Point(x: 1, y: 7.5, floor: 0)),
            (3, 4, Point(x: 2.5, y: 2, floor: 1)), (3, 5, Point(x: 2.5, y: 6, floor: 1)),
            (3, 6, Point(x: 1, y: 0.5, floor: 1)), (6, 7, Point(x: 4.5, y: 4, floor: 2)),
        ]
        walls = rooms.indices.map { from in rooms.indices.map { path(from: from, to: $0).count - 1 } }
    }

    /// Rooms on the way, both ends included.
    func path(from: Int, to: Int) -> [Int] {
        var came = [Int](repeating: -1, count: rooms.count)
        var queue = [from]
        came[from] = from
        while let room = queue.first, came[to] < 0 {
            queue.removeFirst()
            for next in rooms.indices where came[next] < 0 && door(room, next) != nil {
                came[next] = room
                queue.append(next)
            }
        }
        var path = [to]
        while path[0] != from { path.insert(came[path[0]], at: 0) }
        return path
    }

    func door(_ one: Int, _ other: Int) -> Point? {
        doors.first { ($0.from, $0.to) == (one, other) || ($0.from, $0.to) == (other, one) }?.at
    }

    func somewhere(in room: Int, _ random: inout Random) -> Point {
        let place = rooms[room]
        func within(_ range: ClosedRange<Double>) -> Double {
            range.lowerBound + 0.4 + random.uniform() * (range.upperBound - range.lowerBound - 0.8)
        }
        return Point(x: within(place.x), y: within(place.y), floor: place.floor)
    }

    /// Mean level without noise, dBm: free space, 4 dB for a wall, 14 dB for a floor.
    func level(at point: Point, in room: Int, gateway: Int) -> Double {
        let distance = max(0.5, point.distance(to: rooms[gateway].gateway))
        let floors = abs(rooms[room].floor - rooms[gateway].floor)
        let walls = floors > 0 ? 0 : walls[room][gateway]
        return -59 - 20 * log10(distance) - 4 * Double(walls) - 14 * Double(floors)
    }
}
