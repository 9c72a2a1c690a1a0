package import Base
import Rooms
package import SiteProtocol

/// On which floor each room of a site is, and which rooms are stairs: what the configuration says, and else the cards of the gateways.
package struct SiteFloors: Hashable, Sendable {
    /// Largest number of problems, and of names in one of them.
    private static let mostProblems = 20
    private static let mostNamed = 3
    /// What arrives within this time is joined together: after a connection, the cards of all gateways.
    private static let pause: Duration = .seconds(1)
    /// Time in which the cards and the first messages of gateways arrive.
    private static let arrival: Duration = .seconds(10)

    /// What the configuration says, by `RoomName.key`.
    private let configured: [String: (name: RoomName, floor: RoomFloor)]
    /// The floors that cards of gateways say, by gateway.
    private var cards: [String: Int] = [:]
    /// Gateways whose card says a floor, and which did not count when that was last looked at.
    private var newcomers: Set<String> = []
    /// When `join` is to be called; nil: nothing has changed.
    private(set) var due: MonotonicInstant?
    /// What is known of each room.
    private(set) var told: [RoomName: RoomFloor] = [:]
    private var floors: [String: Int] = [:]
    /// Rooms with two floors: the name, and who says what.
    private var conflicts: [String] = []

    init(_ floors: [RoomName: RoomFloor]) {
        configured = Dictionary(floors.map { ($0.key.key, ($0.key, $0.value)) }) { first, _ in first }
        // At the start.
        if !floors.isEmpty { due = .zero }
    }

    package static func == (left: Self, right: Self) -> Bool { left.told == right.told }
    package func hash(into hasher: inout Hasher) { hasher.combine(told) }

    /// Records what a card says; nil: it says nothing, or is gone.
    mutating func record(_ floor: Int?, of gateway: String, at now: MonotonicInstant) {
        if cards[gateway] != floor { cards[gateway] = floor }
        if floor != nil { newcomers.insert(gateway) } else { newcomers.remove(gateway) }
        expire(at: now)
    }

    /// Records that a gateway counts, if it does: one that says a floor may begin to.
    mutating func record(_ gateway: String, counts: Bool, at now: MonotonicInstant) {
        guard counts, !newcomers.isEmpty, newcomers.contains(gateway) else { return }
        newcomers.remove(gateway)
        expire(at: now)
    }

    /// Gateways or rooms have changed: what is said is to be joined again.
    private mutating func expire(at now: MonotonicInstant) {
        if due == nil, !isEmpty { due = now.advanced(by: Self.pause) }
    }

    /// Number of gateways whose card says a floor: no more than there are cards.
    var cardCount: Int { cards.count }

    /// Whether nothing is said of any room.
    var isEmpty: Bool { configured.isEmpty && cards.isEmpty && told.isEmpty }

    /// Joins all that is said.
    ///
    /// - Returns: Whether it differs from before.
    mutating func join(_ plan: SitePlan) -> Bool {
        due = nil
        guard !isEmpty else { return false }
        let before = told
        var said: [String: [(gateway: String, room: RoomName, floor: Int)]] = [:]
        for (gateway, floor) in cards.sorted(by: { $0.key < $1.key }) where plan.isTrusted(gateway: gateway) {
            newcomers.remove(gateway)
            guard let room = plan.room(ofGateway: gateway) else { continue }
            said[room.key, default: []].append((gateway, room, floor))
        }
        told = Dictionary(uniqueKeysWithValues: configured.values.map { ($0.name, $0.floor) })
        conflicts = []
        for (key, cards) in said.sorted(by: { $0.key < $1.key }) {
            let own = configured[key]
            let numbers = Set(cards.map(\.floor) + [own?.floor.floor].compactMap(\.self))
            if numbers.count > 1 { conflicts.append(Self.conflict(cards[0].room, own?.floor.floor, cards)) }
            guard own?.floor.floor == nil, let first = cards.first else { continue }
            // Of two floors, none is believed.
            let floor = numbers.count == 1 ? first.floor : nil
            told[own?.name ?? first.room] = RoomFloor(floor: floor, isStairs: own?.floor.isStairs ?? false)
        }
        told = told.filter { $0.value.floor != nil || $0.value.isStairs }
        floors = Dictionary(told.compactMap { room, floor in floor.floor.map { (room.key, $0) } }) { first, _ in first }
        return told != before
    }

    private static func conflict(
        _ room: RoomName, _ configured: Int?, _ cards: [(gateway: String, room: RoomName, floor: Int)]
    ) -> String {
        let named = cards.prefix(mostNamed).map { "\($0.gateway) says \($0.floor)" }
        let whole = configured.map { ["the configuration says \($0)"] } ?? []
        return "the room \(room.name) has two floors: " + (whole + named).joined(separator: ", ")
    }

    /// The floor of a room; nil if it is unknown.
    package func floor(of room: RoomName) -> Int? { floors.isEmpty ? nil : floors[room.key] }

    /// What is wrong with what is said, with advice.
    ///
    /// - Parameters:
    ///   - rooms: All rooms of the site.
    ///   - connected: When the cards of the gateways began to arrive: without them there are no rooms.
    package func problems(
        among rooms: [RoomName], connected: MonotonicInstant?, at now: MonotonicInstant
    ) -> [(text: String, remedy: String)] {
        guard !isEmpty, let connected, connected.duration(to: now) > Self.arrival else { return [] }
        let known = Set(rooms.map(\.key))
        let missing = configured.filter { !known.contains($0.key) }.map(\.value.name.name).sorted()
        var problems = conflicts.map {
            (text: $0, remedy: "correct 'floor' on the gateways, or 'rooms.floors' of the service")
        }
        problems += missing.map {
            (
                text: "the configuration says where \($0) is, and there is no such room",
                remedy: "correct the name in 'rooms.floors' and 'rooms.stairs', or train the room"
            )
        }
        if problems.count > Self.mostProblems {
            let others = problems.count - Self.mostProblems
            problems.removeLast(others)
            problems.append(
                (
                    text: "\(others) more problems of floors are not listed",
                    remedy: "correct those that are listed first"
                ))
        }
        return problems
    }
}
