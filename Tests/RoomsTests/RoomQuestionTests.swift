import Base
import Rooms
import RoomsSupport
import SiteProtocol
import Testing

/// What becomes of a training when some gateways of a room name another one: the room was renamed, or they were carried away.
@Suite struct RoomQuestionTests {
    private static func name(_ name: String) -> RoomName { .named(name) }

    private static let kitchen: [String: Float?] = ["k": -50, "h": -80, "h2": -85]
    /// At the end of the hall where `h` is, which `h2` hears badly.
    private static let hall: [String: Float?] = ["k": -80, "h": -52, "h2": -78]
    private static let question = RoomQuestion(from: name("Hall"), to: name("Lounge"), gateways: ["h"])

    /// A house whose hall has two gateways, with a training of both rooms. The tag is in the hall.
    private static func trained() -> House {
        var house = House([("k", "Kitchen"), ("h", "Hall"), ("h2", "Hall")])
        house.pass(.learn(room: "Kitchen", tag: "jane", .seconds(60)))
        house.seconds(60, kitchen)
        house.pass(.learn(room: "Hall", tag: "jane", .seconds(60)))
        house.seconds(60, hall)
        house.pass(.learn(room: "Hall", tag: "jane", .zero))
        house.seconds(10, hall)
        (house.findings, house.reported) = ([], [])
        return house
    }

    /// The levels of gateways in the training of a room, as `gateway:level`, by moment.
    private static func training(_ room: String, in house: House) -> [[String]] {
        let learned = house.engine.plan.learned
        let moments = learned.rooms.first { $0.name.name == room }?.labelled ?? []
        return moments.map { moment in
            moment.levels.map { "\(learned.gateways[$0.gateway].name):\($0.eighths.map(String.init) ?? "unknown")" }
        }
    }

    private static func isUnknown(_ moments: [[String]]) -> Bool {
        !moments.isEmpty && moments.allSatisfy { $0.contains("h:unknown") }
    }

    @Test func `If one of two gateways names another room, a person is asked, and what it measured counts for nothing`()
    {
        var house = Self.trained()
        house.pass(.card(gateway: "h", room: "Lounge"))
        #expect(house.findings == [.asked(Self.question)])
        #expect(house.engine.plan.questions(at: .zero.advanced(by: .seconds(house.now))) == [Self.question])
        #expect(Self.isUnknown(Self.training("Hall", in: house)) && Self.isUnknown(Self.training("Kitchen", in: house)))
    }

    @Test(arguments: [false, true])
    func `The answer that the room was renamed brings back all of the training, also after a restart`(isRestarted: Bool)
    {
        var house = Self.trained()
        let before = (Self.training("Hall", in: house), Self.training("Kitchen", in: house))
        house.pass(.card(gateway: "h", room: "Lounge"))
        if isRestarted { house.restart() }
        house.findings = []
        house.pass(.rename(Self.name("hall"), to: Self.name("Lounge")))
        #expect(house.findings == [.renamed(from: Self.name("Hall"), to: Self.name("Lounge"), byPerson: true)])
        #expect(Self.training("Lounge", in: house) == before.0 && Self.training("Kitchen", in: house) == before.1)
        #expect(house.engine.plan.questions(at: .zero.advanced(by: .seconds(house.now))) == [])
        house.seconds(30, Self.kitchen)
        house.seconds(30, Self.hall)
        #expect(house.reported.suffix(2) == ["Kitchen", "Lounge"])
        #expect(
            house.engine.plan.roomID(ofGateway: "h") == "lounge" && house.engine.plan.roomID(ofGateway: "h2") == "hall")
    }

    @Test func `Moves between rooms that were learned come back, too`() {
        var house = Self.trained()
        func exits() -> [String: Float] {
            let learned = house.engine.plan.learned.rooms
            let exits = learned.first { ["Hall", "Lounge"].contains($0.name.name) && !$0.exits.isEmpty }?.exits ?? []
            return Dictionary(exits.map { (learned[$0.room].name.name, $0.count) }) { $1 }
        }
        let before = exits()
        #expect(before["Kitchen"] != nil)
        house.pass(.card(gateway: "h", room: "Lounge"))
        #expect(exits() == [:])
        house.pass(.rename(Self.name("Hall"), to: Self.name("Lounge")))
        #expect(exits() == before)
    }

    @Test func `If the other gateways of the room follow, it is renamed without a question`() {
        var house = Self.trained()
        let before = Self.training("Hall", in: house)
        house.pass(.card(gateway: "h", room: "Lounge"))
        // The engine decides meanwhile that the tag is there.
        house.seconds(30, Self.hall)
        house.findings = []
        house.pass(.card(gateway: "h2", room: "Lounge"))
        #expect(house.findings == [.renamed(from: Self.name("Hall"), to: Self.name("Lounge"), byPerson: false)])
        #expect(Self.training("Lounge", in: house) == before)
        #expect(house.engine.decided(ofTag: 0).room == Self.name("Lounge"))
        #expect(
            house.engine.plan.gatewayHealth(at: .zero.advanced(by: .seconds(house.now)), connected: .zero).map(
                \.trouble)
                == [nil, nil, nil])
        #expect(house.engine.knownRooms.map(\.name) == ["Kitchen", "Lounge"])
    }

    @Test func `A gateway that names its former room again measured the truth all the time`() {
        var house = Self.trained()
        let before = Self.training("Hall", in: house)
        house.pass(.card(gateway: "h", room: "Lonuge"))
        house.pass(.card(gateway: "h", room: "Lounge"))
        #expect(house.engine.plan.questions(at: .zero.advanced(by: .seconds(house.now))) == [Self.question])
        house.pass(.card(gateway: "h", room: "Hall"))
        #expect(Self.training("Hall", in: house) == before)
        #expect(house.engine.plan.questions(at: .zero.advanced(by: .seconds(house.now))) == [])
    }

    @Test func `The answer that the gateway was carried forgets what it measured before`() {
        var house = Self.trained()
        house.pass(.card(gateway: "h", room: "Lounge"))
        house.pass(.moved(gateway: "h"))
        #expect(house.engine.plan.questions(at: .zero.advanced(by: .seconds(house.now))) == [])
        #expect(Self.isUnknown(Self.training("Hall", in: house)))
        house.findings = []
        house.pass(.card(gateway: "h", room: "Hall"))
        #expect(Self.isUnknown(Self.training("Hall", in: house)))
    }

    @Test func `What is measured after the question is newer than what was set aside`() {
        var house = Self.trained()
        house.pass(.card(gateway: "h", room: "Lounge"))
        house.pass(.learn(room: "Kitchen", tag: "jane", .seconds(60)))
        house.seconds(60, ["k": -50, "h": -70, "h2": -85])
        house.pass(.card(gateway: "h", room: "Hall"))
        #expect(!Self.training("Kitchen", in: house).joined().contains("h:unknown"))
        #expect(Self.training("Kitchen", in: house).joined().contains("h:-560"))
    }

    @Test func `A gateway of an untrained room is asked about, too: other rooms were trained with it`() {
        var house = House([("k", "Kitchen"), ("h", "Hall")])
        house.pass(.learn(room: "Kitchen", tag: "jane", .seconds(60)))
        house.seconds(60, Self.kitchen)
        let before = Self.training("Kitchen", in: house)
        house.pass(.card(gateway: "h", room: "Lounge"))
        #expect(house.findings.last == .asked(Self.question))
        house.pass(.rename(Self.name("Hall"), to: Self.name("Lounge")))
        #expect(house.findings.last == .stay(gateways: ["h"]))
        #expect(Self.training("Kitchen", in: house) == before)
    }

    // MARK: A renaming that a person asks for

    @Test(
        arguments: [
            ("Attic", "Lounge", .noRoom), ("hall", "HALL", .sameRoom), ("Hall", "Lounge", .named(by: ["h", "h2"])),
            ("Shed", "Lounge", .notTrained),
        ] as [(String, String, RenamingRefusal)])
    func `It is refused with a reason`(room: String, new: String, reason: RenamingRefusal) {
        var house = Self.trained()
        // A room with a tag alone.
        house.engine.restore(
            [ReportedTag(id: "jane", isHome: true, room: Self.name("Shed"))],
            at: .zero.advanced(by: .seconds(house.now)))
        let before = house.engine.plan.learned
        house.pass(.rename(Self.name(room), to: Self.name(new)))
        #expect(house.findings == [.notRenamed(from: Self.name(room), to: Self.name(new), reason)])
        #expect(house.engine.plan.learned == before)
    }

    @Test func `Two trainings are not merged`() {
        var house = Self.trained()
        house.pass(.card(gateway: "h", room: "Lounge"))
        house.pass(.learn(room: "Lounge", tag: "jane", .seconds(30)))
        // While it is trained, nothing is asked any more.
        #expect(house.engine.plan.questions(at: .zero.advanced(by: .seconds(house.now))) == [])
        house.seconds(40, Self.hall)
        house.pass(.rename(Self.name("Hall"), to: Self.name("Lounge")))
        #expect(house.findings.last == .notRenamed(from: Self.name("Hall"), to: Self.name("Lounge"), .otherIsTrained))
        house.pass(.forgetRoom(Self.name("Lounge")))
        house.pass(.rename(Self.name("Hall"), to: Self.name("Lounge")))
        #expect(house.findings.last == .renamed(from: Self.name("Hall"), to: Self.name("Lounge"), byPerson: true))
    }

    @Test func `A trained room whose only gateway goes to a room that is being trained keeps its name`() {
        var house = House([("k", "Kitchen"), ("h", "Hall")])
        house.pass(.learn(room: "Hall", tag: "jane", .seconds(60)))
        house.seconds(60, Self.hall)
        house.pass(.learn(room: "Lounge", tag: "jane", .seconds(30)))
        house.pass(.card(gateway: "h", room: "Lounge"))
        #expect(!Self.training("Hall", in: house).isEmpty)
    }

    @Test func `A room that was trained under a misspelt name gets the right one`() {
        var house = Self.trained()
        house.pass(.learn(room: "Stduy", tag: "jane", .seconds(30)))
        house.seconds(40, ["k": -60, "h": -60, "h2": -60])
        house.pass(.rename(Self.name("Stduy"), to: Self.name("Study")))
        #expect(house.engine.decided(ofTag: 0).room == Self.name("Study"))
        #expect(!Self.training("Study", in: house).isEmpty)
    }

    // MARK: Forms of one name

    @Test(arguments: [
        ("office_room", "Office Room"), ("Café", "Cafe\u{301}"), ("Living room", " living-room "),
        ("Bad/WC", "Bad, WC"),
    ])
    func `Forms of one name are one room, under the form that came first`(first: String, second: String) {
        var house = House([("k", first), ("h", second)])
        #expect(house.engine.knownRooms.map(\.id) == [RoomName.id(of: first)])
        #expect(house.engine.knownRooms.map { Array($0.name.utf8) } == [Array(first.utf8)])
        house.pass(.learn(room: second, tag: "jane", .seconds(30)))
        house.seconds(40, Self.kitchen)
        #expect(house.engine.plan.learned.rooms.count == 1)
        house.restart()
        #expect(house.engine.knownRooms.map(\.id) == [RoomName.id(of: first)])
    }

    @Test func `A gateway that joins a room without gateways does not change the form of its name`() {
        var house = Self.trained()
        house.pass(.learn(room: "Study", tag: "jane", .seconds(30)))
        house.pass(.card(gateway: "h", room: "STUDY"))
        #expect(house.engine.knownRooms.contains { $0.name == "Study" })
    }

    @Test func `Two rooms that an earlier version stored under forms of one name are one, with both trainings`() {
        var house = House([("k", "Kitchen"), ("h", "Hall")])
        for room in ["office_room", "Study"] {
            house.pass(.learn(room: room, tag: "jane", .seconds(30)))
            house.seconds(40, Self.kitchen)
        }
        var learned = house.engine.plan.learned
        let study = learned.rooms.firstIndex { $0.name.name == "Study" } ?? 0
        let count = learned.rooms.map(\.labelled.count).reduce(0, +)
        learned.rooms[study].name = Self.name("Office Room")
        house.engine = RoomEngine()
        house.engine.restore(learned)
        let rooms = house.engine.plan.learned.rooms.filter { !$0.labelled.isEmpty }
        #expect(rooms.map(\.name.name) == ["office_room"] && rooms.map(\.labelled.count) == [count])
    }
}
