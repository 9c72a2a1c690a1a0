import Base
import RoomsSupport
import SiteProtocol
import Testing

@testable import Rooms

/// The places of the bounded tables of gateways and rooms: who may have one, and how it becomes free.
@Suite struct TablePlaceTests {
    private var house = House([("k", "Kitchen")], bounds: Self.bounds)
    /// Smaller than those of a site, because these tests fill the tables several times.
    private static let most = 250
    private static var bounds: RoomEngine.Bounds {
        var bounds = RoomEngine.Bounds()
        (bounds.gateways, bounds.rooms) = (most, most)
        return bounds
    }

    /// A gateway that is new, and hears the tag best from now on.
    private mutating func welcome(_ gateway: String, room: String) {
        house.pass(.card(gateway: gateway, room: room))
        for _ in 0..<15 {
            house.second(["k": -80])
            house.send(from: gateway, level: -50)
        }
    }

    /// Three messages over two seconds, after which a gateway counts.
    private mutating func speak(_ gateways: [String]) {
        for _ in 0..<3 {
            house.second(["k": -60])
            for gateway in gateways { house.send(from: gateway, level: nil) }
        }
    }

    private func fullTables() -> [RoomEngine.Finding] {
        house.findings.filter {
            switch $0 {
            case .tooManyGateways, .tooManyRooms: true
            default: false
            }
        }
    }

    @Test mutating func `Gateways whose cards were emptied leave their places to others, now and after a restart`() {
        let junk = (0..<2 * Self.most).map { "junk\($0)" }
        for place in stride(from: 0, to: junk.count, by: 20) {
            let names = Array(junk[place..<place + 20])
            for name in names { house.pass(.card(gateway: name, room: "Room of \(name)")) }
            // Some of them count before they go.
            speak(Array(names.prefix(2)))
            for name in names { house.pass(.forget(gateway: name)) }
        }
        welcome("a", room: "Attic")
        #expect(house.reported.last == "Attic")
        #expect(house.engine.counters.refused == 0)
        var next = RoomEngine(bounds: Self.bounds)
        next.restore(house.engine.plan.learned)
        #expect(Set(next.plan.learned.gateways.map(\.name)) == ["k", "a"])
        #expect(Set(next.plan.learned.rooms.map(\.name.id)) == ["kitchen", "attic"])
    }

    @Test mutating func `Rooms that were forgotten leave their places to others`() {
        for number in 0..<2 * Self.most {
            house.pass(.learn(room: "Junk \(number)", tag: "jane", .seconds(1)))
            house.pass(.forgetRoom(.named("Junk \(number)")))
        }
        #expect(house.engine.counters.refused == 0)
        house.pass(.learn(room: "Sauna", tag: "jane", .seconds(10)))
        house.seconds(10, ["k": -70])
        #expect(house.engine.knownRooms.map(\.id) == ["kitchen", "sauna"])
    }

    @Test(arguments: [true, false])
    mutating func `Invented gateways give way to one that is real, and are named`(_ haveCards: Bool) throws {
        for number in 0..<4 * Self.most {
            if haveCards { house.pass(.card(gateway: "junk\(number)", room: "Junk \(number)")) }
            house.send(from: "junk\(number)", level: -40)
        }
        welcome("a", room: "Attic")
        #expect(house.reported.last == "Attic")
        #expect(
            house.engine.plan.hearing.gateways.count == Self.most && house.engine.plan.hearing.rooms.count <= Self.most)
        // A room is found to have no place when its gateway is, or not at all.
        let first = try #require(fullTables().first)
        #expect(first == .tooManyGateways(newest: "junk249", idle: ["junk0", "junk1", "junk2", "junk3", "junk4"]))
        #expect(fullTables().count <= 2)
    }

    @Test mutating func `A gateway that was heard once keeps its place beside those that have only a card`() {
        house.pass(.card(gateway: "a", room: "Attic"))
        house.send(from: "a", level: nil)
        for number in 0..<2 * Self.most {
            house.wait(until: house.now + 0.01)
            house.pass(.card(gateway: "junk\(number)", room: "Kitchen"))
        }
        #expect(house.engine.plan.roomID(ofGateway: "a") == "attic")
    }

    @Test mutating func `Gateways that count keep their places, unless they were silent for a day`() {
        let real = (1..<Self.most).map { "g\($0)" }
        for name in real { house.pass(.card(gateway: name, room: "Hall")) }
        speak(real)
        house.pass(.card(gateway: "late", room: "Hall"))
        #expect(house.engine.counters.refused == 1)
        #expect(!house.engine.plan.hasRoom(gateway: "late"))
        guard case .tooManyGateways("late", let idle)? = fullTables().first else {
            Issue.record("\(house.findings)")
            return
        }
        #expect(idle.count == 5)
        house.wait(until: house.now + 86_500)
        for name in real.dropFirst() { house.send(from: name, level: nil) }
        house.second(["k": -60])
        house.pass(.card(gateway: "late", room: "Hall"))
        #expect(house.engine.plan.hasRoom(gateway: "late") && !house.engine.plan.hasRoom(gateway: "g1"))
        #expect(house.engine.counters.refused == 1)
    }

    @Test mutating func `A gateway that the configuration names keeps its place though it was never heard`() {
        house.pass(.card(gateway: "c", room: "Cellar", isConfigured: true))
        for number in 0..<2 * Self.most { house.pass(.card(gateway: "junk\(number)", room: "Kitchen")) }
        #expect(house.engine.plan.hasRoom(gateway: "c"))
        #expect(house.engine.plan.isTrusted(gateway: "c") && !house.engine.plan.isTrusted(gateway: "junk499"))
    }

    @Test mutating func `Where every room has something to lose, one refusal counts once`() {
        house.seconds(2, ["k": -70])
        for number in 1..<Self.most {
            house.pass(.learn(room: "Room \(number)", tag: "jane", .seconds(3)))
            house.seconds(3, ["k": -70])
        }
        house.pass(.learn(room: "One more", tag: "jane", .seconds(3)))
        #expect(house.engine.counters.refused == 1)
        house.pass(.card(gateway: "x", room: "Another"))
        #expect(house.engine.counters.refused == 2)
        #expect(
            fullTables() == [
                .tooManyRooms(newest: "One more", idle: ["Room 1", "Room 2", "Room 3", "Room 4", "Room 5"])
            ])
        // A room that is forgotten makes room for it.
        house.pass(.forgetRoom(.named("Room 7")))
        house.pass(.card(gateway: "x", room: "Another"))
        #expect(house.engine.plan.roomID(ofGateway: "x") == "another")
    }

    @Test mutating func `A gateway that takes a place takes nothing that the one before measured`() {
        house.pass(.card(gateway: "h", room: "Hall"))
        for _ in 0..<120 {
            house.second(["k": -50])
            house.send(from: "h", level: -70)
        }
        house.pass(.learn(room: "Kitchen", tag: "jane", .seconds(20)))
        for _ in 0..<20 {
            house.second(["k": -50])
            house.send(from: "h", level: -70)
        }
        let place = GatewayIndex(number: 1)
        #expect(
            house.engine.plan.learning.rooms.elements.contains { room in room.own.cells.contains { $0.gateway == place }
            })
        house.pass(.forget(gateway: "h"))
        #expect(house.engine.plan.hearing.gateways[place].name == "h")
        #expect(house.engine.states.elements.allSatisfy { tag in tag.levels.allSatisfy { $0.gateway != place } })
        for room in house.engine.plan.learning.rooms.elements {
            #expect(room.own.cells.allSatisfy { $0.gateway != place })
            #expect(room.labelled.prints.allSatisfy { print in print.levels.allSatisfy { $0.gateway != place } })
        }
    }

    @Test mutating func `Invented gateways leave no trace in what is learned, and their cards erase nothing`() {
        var other = house
        for number in 0..<30 {
            house.pass(.card(gateway: "junk\(number)", room: "Kitchen"))
            house.send(from: "junk\(number)", level: -40)
            house.pass(.card(gateway: "junk\(number)", room: "Hall"))
            house.pass(.card(gateway: "junk\(number)", room: "Kitchen"))
        }
        house.seconds(200, ["k": -50])
        other.seconds(200, ["k": -50])
        let learned = house.engine.plan.learned.rooms[0]
        #expect(learned.own.seconds > 0 && learned.own.cells.count == 1)
        #expect(learned.own == other.engine.plan.learned.rooms[0].own)
    }

    @Test func `A site has two thousand gateways in as many rooms, of which each decides about the tags near it`() {
        let names = (0..<RoomEngine.mostGateways).map { "g\($0)" }
        var house = House([("k", "Kitchen")])
        for name in names.dropFirst() { house.pass(.card(gateway: name, room: "Room of \(name)")) }
        for _ in 0..<3 {
            house.second(["k": -90])
            for name in names.dropFirst() { house.send(from: name, level: nil) }
        }
        #expect(house.engine.counters.refused == 0 && house.findings.isEmpty)
        for _ in 0..<8 {
            house.second([:])
            house.send(from: "g1743", level: -80)
            house.send(from: "g1999", level: -50)
        }
        #expect(house.reported.last == "Room of g1999")
        #expect(house.engine.states.elements[0].levels.count <= Tag.mostLevels)
        house.pass(.card(gateway: "one more", room: "Kitchen"))
        #expect(house.engine.counters.refused == 1)
        var next = RoomEngine()
        next.restore(house.engine.plan.learned)
        #expect(next.plan.hearing.gateways.count == 2000 && next.plan.hearing.rooms.count == 2000)
    }

    @Test func `A room gains nothing by the number of its gateways, if they do not hear the tag`() {
        var house = House([("k", "Kitchen"), ("h", "Hall")])
        for number in 0..<400 { house.pass(.card(gateway: "junk\(number)", room: "Hall")) }
        house.seconds(10, ["k": -75, "h": nil])
        #expect(house.reported.last == "Kitchen")
    }
}
