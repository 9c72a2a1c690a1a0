import Base
import RoomsSupport
import SiteProtocol
import Testing

@testable import Rooms

/// What training brings, and what becomes of it while gateways are added, moved and fail.
@Suite struct RoomTrainingTests {
    private static let kitchen: [String: Float?] = ["k": -55, "h": -70, "b": -82]
    private static let hall: [String: Float?] = ["k": -70, "h": -54, "b": -71]
    private static let study: [String: Float?] = ["k": -72, "h": -62, "b": -64]

    /// A house in which a walk taught the kitchen, the hall and, without a gateway, the study.
    private static func trained() -> House {
        var house = House([("k", "Kitchen"), ("h", "Hall"), ("b", "Bedroom")])
        for (room, levels) in [("Kitchen", kitchen), ("Study", study), ("Hall", hall)] {
            house.pass(.learn(room: room, tag: "jane", .seconds(60)))
            house.seconds(60, levels)
        }
        house.pass(.learn(room: "Hall", tag: "jane", .zero))
        house.seconds(5, hall)
        house.reported = []
        return house
    }

    @Test func `Gateways that are added after a walk and hear no tag change nothing of what it taught`() {
        var house = Self.trained()
        for name in ["z0", "z1", "z2", "z3", "z4"] { house.pass(.card(gateway: name, room: "Garage")) }
        func seconds(_ count: Int, _ levels: [String: Float?]) {
            for _ in 0..<count {
                house.second(levels)
                for name in ["z0", "z1", "z2", "z3", "z4"] { house.send(from: name, level: nil) }
            }
        }
        seconds(60, Self.hall)
        seconds(10, Self.study)
        #expect(house.reported == ["Study"])
    }

    @Test(arguments: [8, 10], [false, true])
    func `A trained room whose gateway has failed is reported, also after a restart`(
        rooms count: Int, isRestarted: Bool
    ) {
        var house = House((0..<count).map { (gateway: "g\($0)", room: "Room \($0)") })
        /// Each gateway hears its own room, and the first three rooms are heard by the same two gateways besides.
        func levels(in room: Int, without failed: Int? = nil) -> [String: Float?] {
            var levels: [String: Float?] = [:]
            for gateway in 0..<count where gateway != failed {
                levels.updateValue(gateway == room ? -55 : nil, forKey: "g\(gateway)")
            }
            levels["g1"] = room == 0 ? -75 : room == 1 ? -55 : -80
            levels["g2"] = room == 0 ? -75 : room == 2 ? -55 : -80
            return levels
        }
        for room in 0..<count {
            house.pass(.learn(room: "Room \(room)", tag: "jane", .seconds(60)))
            house.seconds(60, levels(in: room))
        }
        var silence: [String: Float?] = [:]
        for gateway in 1..<count { silence["g\(gateway)"] = .some(nil) }
        house.seconds(200, silence)
        #expect(house.home.last == false)
        if isRestarted { house.restart() }
        house.seconds(20, levels(in: 0, without: 0))
        #expect(house.reported.last == "Room 0")
    }

    @Test func `That a gateway heard nothing in a room is forgotten when it moves`() {
        var house = House([("k", "Kitchen"), ("k2", "Kitchen"), ("h", "Hall"), ("o", "Office")])
        let guest: [String: Float?] = ["k": nil, "k2": nil, "h": -82, "o": -75]
        let office: [String: Float?] = ["k": nil, "k2": nil, "h": -84, "o": -55]
        let hall: [String: Float?] = ["k": -70, "k2": -68, "h": -55, "o": -84]
        for (room, levels) in [("Guest", guest), ("Office", office), ("Hall", hall)] {
            house.pass(.learn(room: room, tag: "jane", .seconds(60)))
            house.seconds(60, levels)
        }
        house.seconds(10, hall)
        house.pass(.card(gateway: "k2", room: "Shed"))
        house.seconds(60, hall)
        house.reported = []
        house.seconds(20, ["k": nil, "k2": -60, "h": -82, "o": -75])
        #expect(house.reported == ["Guest"])
    }

    // MARK: A room that is renamed

    private static func name(_ name: String) -> RoomName { RoomName.named(name) }

    @Test func `A trained room whose only gateway names a new room is renamed: its training and its tag stay in it`() {
        var house = Self.trained()
        house.pass(.card(gateway: "h", room: "Lounge"))
        #expect(house.findings == [.renamed(from: Self.name("Hall"), to: Self.name("Lounge"), byPerson: false)])
        #expect(house.engine.decided(ofTag: 0).room == Self.name("Lounge"))
        let rooms = house.engine.plan.learned.rooms
        #expect(rooms.map(\.name.name).sorted() == ["Bedroom", "Kitchen", "Lounge", "Study"])
        #expect(rooms.first { $0.name.name == "Lounge" }?.labelled.isEmpty == false)
        house.seconds(30, Self.kitchen)
        house.seconds(30, Self.hall)
        #expect(house.reported == ["Kitchen", "Lounge"])
        // It can be named back.
        house.pass(.card(gateway: "h", room: "Hall"))
        #expect(house.engine.decided(ofTag: 0).room == Self.name("Hall"))
    }

    @Test(arguments: ["Kitchen", "Study"])
    func `A gateway that goes to a room with a gateway or a training renames nothing`(room: String) {
        var house = Self.trained()
        house.pass(.card(gateway: "h", room: room))
        #expect(house.findings == [] && house.engine.plan.learned.rooms.contains { $0.name.name == "Hall" })
    }

    @Test func `A gateway that was not alone in its room, or does not count, renames nothing`() {
        var house = Self.trained()
        house.pass(.card(gateway: "new", room: "Hall"))
        house.pass(.card(gateway: "h", room: "Lounge"))
        let question = RoomQuestion(from: Self.name("Hall"), to: Self.name("Lounge"), gateways: ["h"])
        #expect(house.findings == [.asked(question)])
        house.pass(.card(gateway: "new", room: "Attic"))
        #expect(
            house.findings == [.asked(question)] && house.engine.plan.learned.rooms.contains { $0.name.name == "Hall" })
    }

    @Test func `After a restart a tag may be in the new name already, and the learned data has the former one`() {
        var house = Self.trained()
        let learned = house.engine.plan.learned
        house.engine = RoomEngine()
        house.engine.restore(learned)
        house.pass(.tags([TagDescription(id: "jane", name: "Jane", pattern: House.pattern)]))
        house.engine.restore(
            [ReportedTag(id: "jane", isHome: true, room: Self.name("Lounge"))],
            at: .zero.advanced(by: .seconds(house.now)))
        house.pass(.card(gateway: "h", room: "Lounge"))
        #expect(house.findings == [.renamed(from: Self.name("Hall"), to: Self.name("Lounge"), byPerson: false)])
        #expect(house.engine.decided(ofTag: 0).room == Self.name("Lounge"))
        for (gateway, room) in [("k", "Kitchen"), ("b", "Bedroom")] { house.pass(.card(gateway: gateway, room: room)) }
        house.seconds(30, Self.hall)
        #expect(house.reported == [])
    }
}
