import Base
import RoomsSupport
import SiteProtocol
import Testing

@testable import Rooms

/// Which rooms are on one floor, and where a tag can change the floor.
@Suite struct FloorTests {
    private static let rooms = ["Kitchen", "Hall", "Landing", "Bedroom", "Attic", "Shed"]

    private static func floors(_ numbers: [String: Int], stairs: Set<String>) -> [RoomName: RoomFloor] {
        Dictionary(
            uniqueKeysWithValues: Set(numbers.keys).union(stairs).map {
                (.named($0), RoomFloor(floor: numbers[$0], isStairs: stairs.contains($0)))
            })
    }

    private static let numbers = ["Kitchen": 0, "Hall": 0, "Landing": 1, "Bedroom": 1, "Attic": 2]

    struct Case: CustomTestStringConvertible, Sendable {
        let from: String
        let to: String
        var stairs: Set<String> = ["Hall", "Landing"]
        var unheard: Set<String> = []
        let expected: Floors.Passage

        var testDescription: String { "\(from) to \(to), stairs \(stairs.sorted()), unheard \(unheard.sorted())" }
    }

    @Test(arguments: [
        Case(from: "Kitchen", to: "Hall", expected: .free),
        Case(from: "Kitchen", to: "Bedroom", expected: .locked),
        Case(from: "Bedroom", to: "Kitchen", expected: .locked),
        Case(from: "Hall", to: "Landing", expected: .free),
        Case(from: "Hall", to: "Bedroom", expected: .locked),
        Case(from: "Kitchen", to: "Landing", expected: .locked),
        // Nothing is named, or nobody would notice a tag on the stairs.
        Case(from: "Kitchen", to: "Bedroom", stairs: [], expected: .costly),
        Case(from: "Kitchen", to: "Bedroom", unheard: ["Hall", "Landing"], expected: .costly),
        Case(from: "Hall", to: "Landing", unheard: ["Hall", "Landing"], expected: .costly),
        // The stairs of one floor are enough for it alone.
        Case(from: "Kitchen", to: "Bedroom", unheard: ["Landing"], expected: .locked),
        Case(from: "Hall", to: "Bedroom", unheard: ["Landing"], expected: .free),
        // A second flight of stairs of the floor is not heard.
        Case(
            from: "Kitchen", to: "Landing", stairs: ["Hall", "Landing", "Kitchen"], unheard: ["Kitchen"],
            expected: .free),
        // Two floors away.
        Case(from: "Hall", to: "Attic", expected: .locked),
        Case(from: "Hall", to: "Attic", stairs: [], expected: .costly),
        // No rule for a room without a floor.
        Case(from: "Kitchen", to: "Shed", expected: .free),
        Case(from: "Shed", to: "Bedroom", expected: .free),
    ])
    func `Between two floors a tag goes by the stairs that are heard`(_ trial: Case) throws {
        var floors = Floors()
        floors.tell(Self.floors(Self.numbers, stairs: trial.stairs))
        let rooms = Table<RoomIndex, Room>(Self.rooms.map { Room(name: .named($0)) })
        #expect(floors.isStale)
        floors.arrange(rooms) { !trial.unheard.contains(rooms[$0].name.name) }
        let from = try #require(rooms.firstIndex { $0.name.name == trial.from })
        let to = try #require(rooms.firstIndex { $0.name.name == trial.to })
        #expect(floors.passage(from: from, to: to) == trial.expected)
        #expect(!floors.isStale && !floors.places.isEmpty)
    }

    @Test func `A broken lock is told once a day for each pair of rooms`() {
        var floors = Floors()
        floors.tell(Self.floors(Self.numbers, stairs: ["Hall", "Landing"]))
        floors.arrange(Table(Self.rooms.map { Room(name: .named($0)) })) { _ in true }
        let (kitchen, hall) = (RoomIndex(number: 0), RoomIndex(number: 1))
        let (landing, bedroom) = (RoomIndex(number: 2), RoomIndex(number: 3))
        func finds(_ from: RoomIndex, _ to: RoomIndex, hours: Int) -> Bool {
            floors.isFinding(from: from, to: to, at: .zero.advanced(by: .seconds(3600 * hours)))
        }
        #expect(finds(kitchen, bedroom, hours: 1))
        #expect(!finds(bedroom, kitchen, hours: 24))
        #expect(finds(hall, bedroom, hours: 24))
        #expect(!finds(hall, landing, hours: 24), "the stairs")
        #expect(finds(bedroom, kitchen, hours: 25))
    }

    @Test func `Readings break a lock by a minute more against the floor than for it`() {
        var doubt = FloorDoubt()
        for _ in 0..<59 { doubt.weigh(isContradicted: true, elapsed: 1, FloorTuning()) }
        for _ in 0..<10 { doubt.weigh(isContradicted: false, elapsed: 1, FloorTuning()) }
        for _ in 0..<10 { doubt.weigh(isContradicted: true, elapsed: 1, FloorTuning()) }
        #expect(!doubt.isBroken)
        doubt.weigh(isContradicted: true, elapsed: 1, FloorTuning())
        #expect(doubt.isBroken)
        for _ in 0..<59 { doubt.weigh(isContradicted: false, elapsed: 1, FloorTuning()) }
        #expect(doubt.isBroken)
        doubt.weigh(isContradicted: false, elapsed: 1, FloorTuning())
        #expect(!doubt.isBroken)
    }

    // MARK: In a house

    private static let gateways = [("k", "Kitchen"), ("h", "Hall"), ("l", "Landing"), ("b", "Bedroom")]

    /// The tag lies in the kitchen.
    private func house(_ floors: [RoomName: RoomFloor]?) -> House {
        var house = House(Self.gateways)
        if let floors { house.pass(.floors(floors)) }
        house.seconds(20, levels(near: "k"))
        return house
    }

    private func levels(near gateway: String) -> [String: Float?] {
        ["k": -85, "h": -85, "l": -85, "b": -85].merging([gateway: -55]) { $1 }
    }

    private static let stairs = floors(numbers, stairs: ["Hall", "Landing"])

    @Test func `A tag that jumps to another floor is reported there later than without stairs`() throws {
        var delays: [Int] = []
        for floors in [nil, Self.stairs] {
            var house = house(floors)
            #expect(house.reported.last == "Kitchen")
            let delay = house.delay(until: "Bedroom", levels(near: "b"))
            delays.append(try #require(delay))
            #expect(house.findings.isEmpty)
        }
        #expect(delays[1] > delays[0], "\(delays)")
    }

    @Test func `A lock that the readings contradict for long enough is broken, and that is told`() {
        var tuning = RoomTuning()
        tuning.floors.lockSeconds = 2
        var house = House(Self.gateways, tuning)
        house.pass(.floors(Self.stairs))
        house.seconds(20, levels(near: "k"))
        house.seconds(40, levels(near: "b"))
        #expect(house.reported.last == "Bedroom")
        #expect(
            house.findings == [.floorChanged(tag: "Jane", from: .named("Kitchen"), to: .named("Bedroom"))])
    }

    @Test(arguments: [nil, [:], floors(numbers, stairs: []), floors(["Kitchen": 0, "Bedroom": 0], stairs: [])])
    func `Without stairs a tag changes the floor anywhere`(_ floors: [RoomName: RoomFloor]?) {
        var house = house(floors)
        house.seconds(20, levels(near: "b"))
        #expect(house.reported.last == "Bedroom" && house.findings.isEmpty)
    }

    @Test func `By the stairs a tag changes the floor as it does without floors`() {
        var changes: [[String?]] = []
        for floors in [nil, Self.stairs] {
            var house = house(floors)
            for gateway in ["h", "l", "b"] { house.seconds(8, levels(near: gateway)) }
            changes.append(house.reported)
            #expect(house.findings.isEmpty)
        }
        #expect(changes[0] == changes[1] && changes[0].last == "Bedroom")
    }

    @Test func `Stairs whose gateway is gone lock nothing`() {
        var house = house(Self.stairs)
        for gateway in ["h", "l"] { house.pass(.available(gateway: gateway, false)) }
        house.seconds(20, ["k": -85, "b": -55])
        #expect(house.reported.last == "Bedroom" && house.findings.isEmpty)
    }

    @Test(arguments: [false, true])
    func `Stairs that nodes alone hear lock nothing, trained or not: a tag may pass between two messages`(
        isTrained: Bool
    ) throws {
        var house = House(Self.gateways)
        house.pass(.floors(Self.stairs))
        if isTrained { house.pass(.learn(room: "Hall", tag: "jane", .seconds(60))) }
        for _ in 0..<13 {
            for (node, _) in Self.gateways {
                house.sendAsNode(node, level: node == "h" ? -55 : -85, at: house.now + 1.2)
            }
        }
        if isTrained { house.pass(.learn(room: "Kitchen", tag: "jane", .zero)) }
        house.sendAsNode("k", level: -80, at: house.now + 1)
        let plan = house.engine.plan
        let kitchen = try #require(plan.hearing.roomIndices[.named("Kitchen")])
        let bedroom = try #require(plan.hearing.roomIndices[.named("Bedroom")])
        let hall = try #require(plan.hearing.roomIndices[.named("Hall")])
        #expect((plan.learning.rooms[hall].labelled.count > 0) == isTrained)
        #expect(plan.floors.passage(from: kitchen, to: bedroom) == .costly)
    }

    @Test func `A room that gets another name has the floor that is said of this name`() {
        var house = house(Self.floors(["Kitchen": 0, "Lounge": 1], stairs: []))
        #expect(!house.engine.plan.floors.places[place: RoomIndex(number: 1)].isKnown)
        house.pass(.card(gateway: "h", room: "Lounge"))
        house.seconds(2, levels(near: "k"))
        let lounge = house.engine.plan.hearing.roomIndices[.named("Lounge")]
        #expect(lounge.map { house.engine.plan.floors.places[place: $0].floor } == 1)
    }

    @Test func `A card that says nothing new leaves all as it was found`() {
        var house = house(Self.stairs)
        house.pass(.card(gateway: "h", room: "Hall"))
        #expect(!house.engine.plan.floors.isStale)
        house.pass(.card(gateway: "h", room: "hall"))
        #expect(house.engine.plan.floors.isStale, "another form of the name")
    }

    @Test func `All receivers of a floor speak for it`() {
        // The bedroom's gateway is loud, and three on the ground floor hear the tag nearly as well.
        let heard: [String: Float?] = ["k": -61, "h": -63, "l": -85, "b": -60]
        var probabilities: [Float] = []
        for floors in [nil, Self.floors(Self.numbers, stairs: [])] {
            var house = House(Self.gateways)
            if let floors { house.pass(.floors(floors)) }
            house.seconds(20, heard)
            probabilities.append(
                house.engine.belief(ofTag: 0).first { $0.room.name == "Bedroom" }?.probability ?? 0)
        }
        #expect(probabilities[1] < probabilities[0] / 2, "\(probabilities)")
    }
}
