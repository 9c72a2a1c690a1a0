import Base
import SiteProtocol

/// On which floor each room is, and where one can change the floor.
///
/// Between two floors the stairs of each side count: where all stairs of a floor are heard, no other room of it leads to the next floor. A
/// floor with stairs that nothing hears has no such rule, and neither has one without stairs: there a change costs.
struct Floors: Sendable {
    /// What a tag may do between two rooms.
    enum Passage { case free, costly, locked }

    /// A room as the rule needs it.
    private struct Place: Sendable {
        var floor: Int?
        var isStairs = false
        /// Whether all stairs of its floor are heard, and it is none of them.
        var isEnclosed = false
    }

    /// By `RoomName.key`.
    private var told: [String: RoomFloor] = [:]
    private var places = Table<RoomIndex, Place>()
    /// The floors all of whose stairs are heard.
    private var closed: Set<Int> = []
    /// When it was last told that the lock between two rooms was broken.
    private var findings: [Set<RoomIndex>: MonotonicInstant] = [:]

    /// Whether nothing is known of any floor, so that no rule applies.
    private(set) var isEmpty = true
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
        places = Table(
            rooms.elements.map { room in
                let known = told[room.name.key]
                return Place(floor: known?.floor, isStairs: known?.isStairs ?? false)
            })
        isEmpty = !places.elements.contains { $0.floor != nil }
        var (stairs, deaf): (Set<Int>, Set<Int>) = ([], [])
        for room in places.indices {
            guard places[room].isStairs, let floor = places[room].floor else { continue }
            stairs.insert(floor)
            if !isHeard(room) { deaf.insert(floor) }
        }
        closed = stairs.subtracting(deaf)
        for room in places.indices {
            places[room].isEnclosed = !places[room].isStairs && places[room].floor.map(closed.contains) == true
        }
    }

    // MARK: The rule

    func floor(of room: RoomIndex) -> Int? { places.contains(index: room) ? places[room].floor : nil }

    func passage(from: RoomIndex, to: RoomIndex) -> Passage {
        guard places.contains(index: from), places.contains(index: to), let one = places[from].floor,
            let other = places[to].floor, one != other
        else { return .free }
        if abs(one - other) > 1 {
            let between = min(one, other)...max(one, other)
            return between.contains(where: closed.contains) ? .locked : .costly
        }
        if places[from].isEnclosed || places[to].isEnclosed { return .locked }
        return closed.contains(one) || closed.contains(other) ? .free : .costly
    }

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
