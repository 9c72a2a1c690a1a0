import Base
import SiteProtocol

/// On which floor each room is, and where one can change the floor.
///
/// Between two floors the stairs of each side count: where all stairs of a floor are heard, no other room of it leads to the next floor. A
/// floor with stairs that nothing hears has no such rule, and neither has one without stairs: there a change costs.
struct Floors: Sendable {
    /// What a tag may do between two rooms.
    enum Passage { case free, costly, locked }

    /// Where a tag in a room can leave its floor for the next one: anywhere, at a cost, or, where all stairs of the floor are heard, at
    /// these alone: here, or elsewhere.
    enum Exit: Sendable { case anywhere, here, elsewhere }

    /// A room as the rule needs it: eight bytes, because it is read for each room of each window.
    struct Place: Sendable, BitwiseCopyable {
        static let unknown = Int16.min
        var floor = Self.unknown
        /// How many floors below its floor are closed, and how many up to its floor.
        var closedBelow: Int16 = 0
        var closedUpTo: Int16 = 0
        var exit = Exit.anywhere

        var isKnown: Bool { floor != Self.unknown }
    }

    /// By `RoomName.key`.
    private var told: [String: RoomFloor] = [:]
    /// Empty if nothing is known of any floor, so that no rule applies.
    private(set) var places = Table<RoomIndex, Place>()
    /// When it was last told that the lock between two rooms was broken.
    private var findings: [Set<RoomIndex>: MonotonicInstant] = [:]

    /// Whether `arrange` is to be called before the rule is asked.
    private(set) var isStale = false

    /// Time between two findings about the same rooms.
    private static let findingPeriod: Duration = .seconds(86_400)
    /// Most pairs of rooms that are remembered.
    private static let mostFindings = 100

    // MARK: The plan

    mutating func tell(_ floors: [RoomName: RoomFloor]) {
        told = Dictionary(floors.map { ($0.key.key, $0.value) }) { first, _ in first }
        isStale = true
    }

    /// Rooms, their names or their receivers may have changed.
    mutating func setStale() { if !told.isEmpty { isStale = true } }

    /// Finds the place of each room again, because a floor, a name or a receiver changed.
    ///
    /// - Parameter isHeard: Whether a tag in the room would be noticed.
    mutating func arrange(_ rooms: Table<RoomIndex, Room>, isHeard: (RoomIndex) -> Bool) {
        isStale = false
        places = Table()
        guard told.values.contains(where: { $0.floor != nil }) else { return }
        for room in rooms.indices {
            let floor = told[rooms[room].name.key]?.floor.map { max(Place.unknown + 1, Int16(clamping: $0)) }
            places.append(Place(floor: floor ?? Place.unknown))
        }
        guard places.elements.contains(where: \.isKnown) else { return places = Table() }
        var (stairs, deaf): (Set<Int16>, Set<Int16>) = ([], [])
        func isStairs(_ room: RoomIndex) -> Bool { told[rooms[room].name.key]?.isStairs ?? false }
        for room in places.indices where isStairs(room) && places[room].isKnown {
            stairs.insert(places[room].floor)
            if !isHeard(room) { deaf.insert(places[room].floor) }
        }
        let closed = stairs.subtracting(deaf)
        for room in places.indices where places[room].isKnown {
            let floor = places[room].floor
            if closed.contains(floor) { places[room].exit = isStairs(room) ? .here : .elsewhere }
            places[room].closedBelow = Int16(clamping: closed.count { $0 < floor })
            places[room].closedUpTo = Int16(clamping: closed.count { $0 <= floor })
        }
    }

    // MARK: The rule

    func passage(from: RoomIndex, to: RoomIndex) -> Passage { places[place: from].passage(to: places[place: to]) }

    // MARK: Findings

    /// Whether it is to be told that a tag changed the floor where it cannot; it counts as told.
    mutating func isFinding(from: RoomIndex, to: RoomIndex, at now: MonotonicInstant) -> Bool {
        guard passage(from: from, to: to) == .locked else { return false }
        let pair: Set = [from, to]
        if let last = findings[pair], last.duration(to: now) < Self.findingPeriod { return false }
        if findings.count >= Self.mostFindings, let oldest = findings.min(by: { $0.value < $1.value }) {
            findings[oldest.key] = nil
        }
        findings[pair] = now
        return true
    }
}

extension Floors.Place {
    @inline(__always)
    func passage(to other: Self) -> Floors.Passage {
        guard floor != other.floor, isKnown, other.isKnown else { return .free }
        let height = Int(other.floor) - Int(floor)
        if height > 1 { return other.closedUpTo > closedBelow ? .locked : .costly }
        if height < -1 { return closedUpTo > other.closedBelow ? .locked : .costly }
        if exit == .elsewhere || other.exit == .elsewhere { return .locked }
        return exit == .here || other.exit == .here ? .free : .costly
    }
}

extension Table<RoomIndex, Floors.Place> {
    /// A room that came after the places were found has no floor.
    @inline(__always)
    subscript(place room: RoomIndex) -> Floors.Place { contains(index: room) ? self[room] : Floors.Place() }
}
