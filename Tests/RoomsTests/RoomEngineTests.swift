import Base
import Beacon
import Regions
import RoomsSupport
import SiteProtocol
import Testing

@testable import Rooms

/// Which room a tag is in.
@Suite struct RoomEngineTests {
    private static func flat(_ tuning: RoomTuning = RoomTuning()) -> House {
        House([("k", "Kitchen"), ("h", "Hall"), ("b", "Bedroom")], tuning)
    }
    private static let kitchen: [String: Float?] = ["k": -55, "h": -70, "b": -82]
    private static let hall: [String: Float?] = ["k": -70, "h": -54, "b": -71]
    private static let bedroom: [String: Float?] = ["k": -83, "h": -70, "b": -53]

    @Test func `Without training a tag is in the room whose gateway hears it best`() {
        var house = Self.flat()
        house.seconds(8, Self.kitchen)
        #expect(house.reported == [nil, "Kitchen"])
        #expect(house.home == [true, true])
    }

    @Test func `What a gateway measures more than others is taken from what its level says of the room`() {
        let loudHall: [String: Float?] = ["k": -60, "h": -56, "b": -82]
        for (offsets, room) in [([:], "Hall"), (["h": 10], "Kitchen"), (["h": 10, "k": 10, "b": 10], "Hall")]
            as [([String: Float], String)]
        {
            var house = Self.flat()
            house.pass(.offsets(offsets))
            house.seconds(8, loudHall)
            #expect(house.reported == [nil, room], "\(offsets)")
        }
    }

    @Test func `An offset that no two radios have is cut, and one that is not said again is over`() {
        let loudHall: [String: Float?] = ["k": -82, "h": -56, "b": -90]
        for offsets in [["h": 1000], ["h": .infinity], [:]] as [[String: Float]] {
            var house = Self.flat()
            house.pass(.offsets(["h": 15]))
            house.pass(.offsets(offsets))
            house.seconds(8, loudHall)
            #expect(house.reported == [nil, "Hall"], "\(offsets)")
        }
    }

    @Test func `A tag that is carried through the rooms is reported in the order of its path`() {
        var house = Self.flat()
        house.seconds(10, Self.kitchen)
        house.seconds(10, Self.hall)
        house.seconds(10, Self.bedroom)
        #expect(house.reported == [nil, "Kitchen", "Hall", "Bedroom"])
    }

    /// What is reported when the gateways, which heard nothing for five seconds, hear one packet.
    private static func reported(ofOnePacket levels: [String: Float?]) -> [String?] {
        var house = flat()
        house.seconds(5, ["k": nil, "h": nil, "b": nil])
        house.second(levels)
        house.seconds(5, ["k": nil, "h": nil, "b": nil])
        return house.reported
    }

    @Test func `One packet reports the first room of a tag, if one gateway hears it clearly best`() {
        #expect(Self.reported(ofOnePacket: ["k": -55, "h": -70, "b": nil]) == [nil, "Kitchen"])
    }

    @Test func `One packet that one gateway alone hears reports no room, however loud it is`() {
        #expect(Self.reported(ofOnePacket: ["k": -30, "h": nil, "b": nil]) == [nil])
    }

    @Test(arguments: [0, 5])
    func `One packet reports no room while a gateway in another one has not spoken, or no more`(seconds: Int) {
        var house = Self.flat()
        house.seconds(seconds, ["k": nil, "h": nil, "b": nil])
        house.seconds(40, ["k": nil, "h": nil])
        house.second(["k": -55, "h": -70])
        house.seconds(5, ["k": nil, "h": nil])
        #expect(house.reported == [nil])
    }

    @Test func `One packet reports no room while one of two gateways in another one is silent`() {
        var house = House([("k", "Kitchen"), ("h", "Hall"), ("h2", "Hall")])
        house.seconds(40, ["k": nil, "h": nil])
        house.second(["k": -50, "h": -70])
        house.seconds(5, ["k": nil, "h": nil])
        #expect(house.reported == [nil])
    }

    @Test(arguments: [false, true])
    func `In a house of many rooms, too, a gateway that is silent may be the nearest`(isSilent: Bool) {
        let far = (1...10).map { "r\($0)" }
        var house = House([("k", "Kitchen"), ("h", "Hall")] + far.map { ($0, "Room \($0)") })
        var levels: [String: Float?] = Dictionary(uniqueKeysWithValues: (["k", "h"] + far).map { ($0, nil) })
        if isSilent { levels.removeValue(forKey: "r10") }
        house.seconds(40, levels)
        levels["k"] = -45
        levels["h"] = -75
        house.second(levels)
        house.wait(until: house.now + 1.2)
        #expect(house.reported == (isSilent ? [nil] : [nil, "Kitchen"]))
    }

    @Test func `A gateway that does not count delays no first room`() {
        var house = Self.flat()
        house.pass(.card(gateway: "x", room: "Nowhere"))
        house.seconds(5, ["k": nil, "h": nil, "b": nil])
        house.second(["k": -50, "h": -75, "b": nil])
        house.wait(until: house.now + 1.2)
        #expect(house.reported == [nil, "Kitchen"])
    }

    @Test func `One packet reports no room where a node stands in another one`() {
        var house = Self.flat()
        house.sendAsNode(
            "b", level: -80, at: house.now + 1, beacon: BeaconID(uuid: House.beacon.uuid, major: 3, minor: 5))
        house.seconds(10, ["k": nil, "h": nil])
        house.second(["k": -55, "h": -70])
        house.seconds(5, ["k": nil, "h": nil])
        #expect(house.reported == [nil])
    }

    @Test func `While a tag without a room trains one, no packet reports another`() {
        var house = Self.flat()
        house.seconds(5, ["k": nil, "h": nil, "b": nil])
        house.pass(.learn(room: "Hall", tag: "jane", .seconds(60)))
        house.seconds(30, ["k": -55, "h": -75, "b": nil])
        #expect(!house.reported.contains("Kitchen"))
    }

    @Test(arguments: [(-69, nil), (-70, "Kitchen")] as [(Float, String?)])
    func `After a walk too, one packet reports a room only if its gateway hears it clearly best`(
        hall: Float, room: String?
    ) {
        var house = Self.flat()
        for (room, levels) in [("Kitchen", ["k": -60, "h": hall]), ("Hall", ["k": -75, "h": -60])] {
            house.pass(.learn(room: room, tag: "jane", .seconds(60)))
            house.seconds(62, ["k": levels["k"], "h": levels["h"], "b": nil])
        }
        house.seconds(200, ["k": nil, "h": nil, "b": nil])
        let before = house.reported.count
        house.second(["k": -60, "h": hall, "b": nil])
        house.seconds(5, ["k": nil, "h": nil, "b": nil])
        #expect(house.reported.dropFirst(before).last == room)
        #expect(house.home.last == true)
    }

    @Test func `A tag that comes home is reported with its first window, a second after its first reading`() {
        var house = Self.flat()
        house.seconds(20, ["k": nil, "h": nil, "b": nil])
        // The gateways' seconds are out of step.
        let packet = house.now
        for (after, gateway, level) in [(0.2, "b", -82), (0.5, "h", -70), (0.8, "k", -55)] as [(Double, String, Float)]
        {
            house.wait(until: packet + after)
            house.send(from: gateway, level: level, age: after)
        }
        house.wait(until: packet + 1.3)
        #expect(house.reported == [nil, "Kitchen"])
    }

    @Test func `A gateway that hears a tag for a second and fails does not draw it into its room`() {
        var house = Self.flat()
        house.seconds(60, ["k": nil, "h": -70, "b": nil])
        house.seconds(1, ["k": -60, "h": -70, "b": nil])
        house.seconds(300, ["h": -70, "b": nil])
        #expect(house.reported == [nil, "Hall"])
    }

    @Test func `One loud packet elsewhere changes nothing`() {
        var house = Self.flat()
        house.seconds(10, Self.kitchen)
        house.second(["k": -80, "h": -80, "b": -30])
        house.seconds(10, Self.kitchen)
        #expect(house.reported == [nil, "Kitchen"])
    }

    @Test func `The gateway of the tag's room fails: the tag stays where it is`() {
        var house = Self.flat()
        house.seconds(20, Self.kitchen)
        house.seconds(120, ["h": -70, "b": -82])
        #expect(house.reported == [nil, "Kitchen"])
    }

    @Test func `A gateway that is online and deaf is found within a minute, and changes nothing`() {
        var house = Self.flat()
        house.seconds(20, Self.kitchen)
        for _ in 0..<60 { house.second(["k": nil, "h": -70, "b": -82], reports: 0) }
        #expect(house.findings == [.deaf(gateway: "k")])
        #expect(house.reported == [nil, "Kitchen"])
        house.second(Self.kitchen)
        #expect(house.findings == [.deaf(gateway: "k"), .hears(gateway: "k")])
    }

    @Test func `A tag that no gateway hears any more is away, and has no room`() {
        var house = Self.flat()
        house.seconds(20, Self.kitchen)
        house.seconds(200, ["k": nil, "h": nil, "b": nil])
        #expect(house.reported == [nil, "Kitchen", nil])
        #expect(house.home == [true, true, false])
    }

    @Test func `A tag stays in its room when another tag comes before it in the list`() {
        var house = Self.flat()
        house.seconds(20, Self.kitchen)
        let other = BeaconPattern(uuid: House.beacon.uuid, major: 3, minor: 5)
        house.pass(.tags([TagDescription(id: "bob", name: "Bob", pattern: other)] + house.engine.tags))
        house.seconds(20, Self.kitchen)
        #expect(house.reported == [nil, "Kitchen"])
        #expect(house.engine.decided(ofTag: 1).room?.name == "Kitchen")
    }

    @Test func `Two gateways in one room speak for it together`() {
        var house = House([("south", "Living"), ("north", "Living"), ("k", "Kitchen")])
        house.seconds(8, ["south": -60, "north": -75, "k": -72])
        house.seconds(8, ["south": -75, "north": -60, "k": -72])
        #expect(house.reported == [nil, "Living"])
    }

    @Test func `A walk teaches rooms that the levels alone get wrong, and rooms without a gateway`() {
        var house = Self.flat()
        let study: [String: Float?] = ["k": -72, "h": -62, "b": -64]
        house.pass(.learn(room: "Study", tag: "jane", .seconds(60)))
        house.seconds(60, study)
        house.pass(.learn(room: "Hall", tag: "jane", .seconds(60)))
        house.seconds(60, Self.hall)
        house.pass(.learn(room: "Kitchen", tag: "jane", .seconds(60)))
        house.seconds(60, Self.kitchen)
        house.pass(.learn(room: "Kitchen", tag: "jane", .zero))
        house.reported = []
        house.seconds(10, study)
        #expect(house.reported == ["Study"])
    }

    /// Seconds until a tag that comes to the hall is reported there, after so many seconds in the kitchen.
    private static func delay(after stay: Int) -> Int? {
        var tuning = RoomTuning()
        // What is learned in an hour would say more than the hour itself.
        tuning.observation.ownTrust = 0
        var house = flat(tuning)
        house.seconds(stay, kitchen)
        house.reported = []
        return (1...60).first { _ in
            house.second(["k": -60.5, "h": -57, "b": -75])
            return house.reported == ["Hall"]
        }
    }

    @Test func `What was in a room for an hour is reported elsewhere as soon as what just came, once it moves`() throws
    {
        let early = try #require(Self.delay(after: 20))
        let late = try #require(Self.delay(after: 3600))
        #expect(late <= early)
    }

    @Test func `The gateway of the tag's room loses every third packet: the tag stays there`() {
        var house = Self.flat()
        house.seconds(10, Self.kitchen)
        for _ in 0..<50 {
            house.second(["k": nil, "h": -66, "b": -82])
            house.seconds(2, Self.kitchen)
        }
        #expect(house.reported == [nil, "Kitchen"])
    }

    @Test(arguments: [(1, 15.0), (501, 65)])
    func `A tag that five gateways heard well is away soon, and within a minute where there are hundreds of tags`(
        tags: Int, limit: Double
    ) throws {
        var house = House([("k", "Kitchen"), ("h", "Hall"), ("b", "Bedroom"), ("s", "Study"), ("g", "Garage")])
        house.pass(
            .tags(
                (0..<tags).map { tag in
                    let minor = House.beacon.minor + UInt16(tag)
                    return TagDescription(
                        id: tag == 0 ? "jane" : "tag\(tag)", name: "Tag",
                        pattern: BeaconPattern(uuid: House.beacon.uuid, major: 3, minor: minor))
                }))
        house.seconds(300, ["k": -55, "h": -70, "b": -72, "s": -74, "g": -76])
        let silent: [String: Float?] = ["k": nil, "h": nil, "b": nil, "s": nil, "g": nil]
        let begin = house.now
        while house.home.last == true, house.now < begin + 200 { house.second(silent) }
        #expect(house.now - begin <= limit)
    }

    /// Sends one packet of a slow beacon: the gateways report it one after the other, as their seconds end.
    private static func packet(_ house: inout House, _ levels: [(gateway: String, level: Float)], seconds: Double) {
        let begin = house.now
        for (index, (gateway, level)) in levels.enumerated() {
            house.wait(until: begin + 0.1 + 0.4 * Double(index))
            house.send(from: gateway, level: level, age: house.now - begin)
        }
        house.wait(until: begin + seconds)
    }

    @Test(arguments: [2.0, 5, 10])
    func `What gateways hear of a packet of a slow beacon within a second counts as one window`(interval: Double) {
        var house = Self.flat()
        for _ in 0..<20 { Self.packet(&house, [("b", -82), ("h", -70), ("k", -55)], seconds: interval) }
        #expect(house.engine.counters.windows == 20)
        #expect(house.reported == [nil, "Kitchen"])
    }

    @Test(arguments: [1.0, 2, 5])
    func `A packet that several gateways report one after the other reports no room`(interval: Double) {
        var house = Self.flat()
        for _ in 0..<4 { Self.packet(&house, [("k", -55), ("h", -70), ("b", -82)], seconds: interval) }
        Self.packet(&house, [("k", -90), ("h", -85), ("b", -30)], seconds: interval)
        for _ in 0..<4 { Self.packet(&house, [("k", -55), ("h", -70), ("b", -82)], seconds: interval) }
        #expect(house.reported == [nil, "Kitchen"])
    }

    /// Packets of a beacon of 2 s after which a tag is reported in the room that it was carried to.
    /// - Parameter most: `TransitionTuning.mostWindowSeconds`; with 1 a packet counts as one of a beacon of a second.
    private static func packetsUntilReport(after packetsInRoom: Int, most: Float?) throws -> Int {
        var tuning = RoomTuning()
        tuning.transition.mostWindowSeconds = most ?? tuning.transition.mostWindowSeconds
        var house = flat(tuning)
        for _ in 0..<packetsInRoom { packet(&house, [("k", -60), ("h", -66), ("b", -82)], seconds: 2) }
        let count = (1...100).first { _ in
            packet(&house, [("k", -64), ("h", -62), ("b", -82)], seconds: 2)
            return house.reported.last == "Hall"
        }
        return try #require(count)
    }

    @Test
    func
        `A packet of a slow beacon counts for more than a second of a quick one, and less so the longer the tag stays`()
        throws
    {
        func gained(after packets: Int) throws -> Double {
            Double(try Self.packetsUntilReport(after: packets, most: 1))
                / Double(try Self.packetsUntilReport(after: packets, most: nil))
        }
        #expect(try gained(after: 10) >= 1.5)
        #expect(try gained(after: 1800) < 1.2)
    }

    @Test func `A slow beacon delays no window of a quick one`() {
        func instant(_ milliseconds: Int) -> MonotonicInstant { .zero.advanced(by: .milliseconds(milliseconds)) }
        let (slow, quick) = (TagIndex(number: 1), TagIndex(number: 2))
        var windows = OpenWindows()
        windows.long.append(slow, until: instant(1050))
        windows.short.append(quick, until: instant(250))
        #expect(windows.earliestEnd == instant(250))
        #expect(windows.removeEnded(by: instant(249)) == nil)
        #expect(windows.removeEnded(by: instant(250)) == quick)
        #expect(windows.removeEnded(by: instant(1049)) == nil)
        #expect(windows.removeEnded(by: instant(1050)) == slow)
        #expect(windows.earliestEnd == nil)
    }

    @Test func `The gateway of the room loses three packets in a row of a beacon of 10 s: the tag stays there`() {
        var house = Self.flat()
        func packet(_ levels: [String: Float?]) {
            house.second(levels)
            house.seconds(9, ["k": nil, "h": nil, "b": nil])
        }
        for _ in 0..<100 { packet(Self.kitchen) }
        for _ in 0..<3 { packet(["k": nil, "h": -70, "b": -82]) }
        for _ in 0..<5 { packet(Self.kitchen) }
        #expect(house.reported == [nil, "Kitchen"])
    }

    @Test(arguments: [true, false])
    func `What a gateway heard before it failed counts on while the tag stays`(isConnected: Bool) {
        var house = Self.walked()
        house.seconds(20, ["k": -52, "h": -61, "b": -75])
        for _ in 0..<120 {
            var levels: [String: Float?] = ["h": -61, "b": -75]
            if isConnected { levels["k"] = .some(nil) }
            house.second(levels, reports: 0)
        }
        #expect(house.reported.last == "Kitchen")
        for _ in 0..<20 { house.second(["h": -54, "b": -71]) }
        #expect(house.reported.last == "Hall")
    }

    /// As far from what was learned in the hall as from what was learned in the bedroom.
    private static let between: [String: Float?] = ["k": -76.5, "h": -62, "b": -62]

    private static func walked() -> House {
        var house = flat()
        for (room, levels) in [
            ("Kitchen", kitchen), ("Hall", hall), ("Bedroom", bedroom), ("Hall", hall), ("Kitchen", kitchen),
        ] {
            house.pass(.learn(room: room, tag: "jane", .seconds(30)))
            house.seconds(30, levels)
        }
        house.pass(.learn(room: "Kitchen", tag: "jane", .zero))
        return house
    }

    @Test func `Of two rooms that fit alike, a tag is in the one that the walk went to from there`() {
        var house = Self.walked()
        house.seconds(10, Self.kitchen)
        house.reported = []
        house.seconds(10, Self.between)
        #expect(house.reported == ["Hall"])
    }

    @Test func `An hour in one place teaches no more than some minutes, and further stays do`() throws {
        func learned(_ house: House) -> Float { house.engine.plan.roomReports.reduce(0) { $0 + $1.ownSeconds } }
        var house = Self.flat()
        house.seconds(180, Self.kitchen)
        let early = learned(house)
        house.seconds(3420, Self.kitchen)
        #expect(early > 20)
        #expect(learned(house) < 1.3 * early)
        for _ in 0..<3 {
            house.seconds(60, Self.hall)
            house.seconds(60, Self.kitchen)
        }
        #expect(learned(house) > 3 * early)
    }

    @Test func `How right the levels alone are in a trained room is measured, kept, and forgotten with the room`()
        throws
    {
        var house = Self.flat()
        for (room, levels) in [("Kitchen", Self.kitchen), ("Bedroom", Self.hall)] {
            house.pass(.learn(room: room, tag: "jane", .seconds(60)))
            house.seconds(60, levels)
        }
        func placed(_ engine: RoomEngine, _ room: String) throws -> Float {
            try #require(engine.plan.learned.rooms.first { $0.name.name == room }).placed
        }
        #expect(try placed(house.engine, "Kitchen") > 0.9)
        #expect(try placed(house.engine, "Bedroom") < 0.1)
        var other = RoomEngine()
        other.restore(house.engine.plan.learned)
        #expect(try placed(other, "Kitchen") == placed(house.engine, "Kitchen"))
        house.pass(.forgetRoom(.named("Kitchen")))
        #expect(try placed(house.engine, "Kitchen") == 0)
    }

    @Test func `Where the levels alone were right in the training, they keep a part in the decision`() throws {
        func house(_ placementWorth: Float) -> House {
            var tuning = RoomTuning()
            tuning.observation.placementWorth = placementWorth
            var house = Self.flat(tuning)
            for (room, levels) in [("Kitchen", Self.kitchen), ("Hall", Self.hall), ("Bedroom", Self.bedroom)] {
                house.pass(.learn(room: room, tag: "jane", .seconds(60)))
                house.seconds(60, levels)
            }
            house.pass(.learn(room: "Bedroom", tag: "jane", .zero))
            return house
        }
        /// How probable the hall is for a tag that resembles the kitchen's fingerprints more, and that the hall's gateway hears best.
        func probability(_ house: House) -> Float? {
            var house = house
            house.seconds(10, Self.kitchen)
            house.seconds(3, ["k": -57, "h": -55, "b": -82])
            return house.engine.belief(ofTag: 0).first { $0.room.name == "Hall" }?.probability
        }
        let (without, with) = (try #require(probability(house(0))), try #require(probability(house(0.5))))
        #expect(with > 2 * without)
    }

    @Test func `A fingerprint of as many gateways as there can be in one is kept`() {
        // Twelve that heard the tag, and sixteen of which nothing is known.
        let rooms = (0..<28).map { (gateway: "g\(100 + $0)", room: "Room \($0)") }
        var house = House(rooms)
        let heard = Dictionary(uniqueKeysWithValues: rooms.prefix(12).map { ($0.gateway, Float?(-60)) })
        house.pass(.learn(room: "Room 0", tag: "jane", .seconds(60)))
        house.seconds(60, heard)
        let learned = house.engine.plan.learned
        #expect(learned.rooms[0].labelled.map(\.levels.count).max() == 28)
        var other = RoomEngine()
        other.restore(learned)
        #expect(other.plan.learned.rooms[0].labelled == learned.rooms[0].labelled)
    }

    @Test func `Where a walk went is kept, and forgotten with the room`() {
        var house = Self.walked()
        let learned = house.engine.plan.learned
        let exits = learned.rooms.map { room in room.exits.map { learned.rooms[$0.room].name.name }.sorted() }
        #expect(learned.rooms.map(\.name.name) == ["Kitchen", "Hall", "Bedroom"])
        #expect(exits == [["Hall"], ["Bedroom", "Kitchen"], ["Hall"]])
        #expect(learned.rooms[1].exits.map(\.count) == [2, 2])
        var other = RoomEngine()
        other.restore(learned)
        #expect(other.plan.learned.rooms.map(\.exits) == learned.rooms.map(\.exits))
        house.pass(.forgetRoom(.named("Hall")))
        #expect(house.engine.plan.learned.rooms.flatMap(\.exits) == [])
    }

    @Test(arguments: [.forgetRoom(.named("Kitchen")), .card(gateway: "k", room: "Garage")] as [RoomEngine.Input])
    func `Windows that were judged by what is forgotten are not learned`(input: RoomEngine.Input) {
        var house = Self.flat()
        house.seconds(20, Self.kitchen)
        house.pass(input)
        house.seconds(12, Self.kitchen)
        #expect(house.engine.plan.learning.rooms.elements.allSatisfy { $0.own.seconds == 0 })
        house.seconds(12, Self.kitchen)
        #expect(house.engine.plan.learning.rooms.elements.contains { $0.own.seconds > 0 })
    }

    @Test func `How well the levels alone did in the training is forgotten when a gateway moves, and measured anew`() {
        let rooms = [("k", "Kitchen"), ("k2", "Kitchen"), ("h", "Hall"), ("b", "Bedroom")]
        func train(_ house: inout House, _ room: String, _ levels: [String: Float?], seconds: Int) -> Float {
            house.pass(.learn(room: room, tag: "jane", .seconds(seconds)))
            for second in 0..<seconds {
                var varied = levels
                // Each gateway in its own way, so that there are many fingerprints.
                for (gateway, step) in [("k", 7), ("k2", 5), ("h", 3)] {
                    varied[gateway] = levels[gateway].map { $0.map { $0 + Float(second * step % 13) - 6 } }
                }
                house.second(varied)
            }
            return house.engine.plan.learned.rooms.first { $0.name.name == room }?.placed ?? 0
        }
        var (kitchen, hall) = (Self.kitchen, Self.hall)
        (kitchen["k2"], hall["k2"]) = (-58, -74)
        var (house, other) = (House(rooms), House(rooms))
        _ = train(&house, "Kitchen", kitchen, seconds: 300)
        _ = train(&house, "Hall", hall, seconds: 300)
        house.pass(.card(gateway: "k", room: "Hall"))
        other.pass(.card(gateway: "k", room: "Hall"))
        #expect(house.engine.plan.learned.rooms.allSatisfy { $0.placed == 0 })
        #expect(train(&house, "Hall", hall, seconds: 120) > 0.8 * train(&other, "Hall", hall, seconds: 120))
    }

    @Test func `A training run is of the tag with this id, also if another tag has it as its name`() {
        var house = Self.flat()
        house.pass(
            .tags(
                [("jane", "bob", 3), ("bob", "jane", 4)].map { id, name, major in
                    TagDescription(
                        id: id, name: name,
                        pattern: BeaconPattern(uuid: House.beacon.uuid, major: major, minor: 4))
                }))
        house.pass(.learn(room: "Kitchen", tag: "bob", .seconds(60)))
        #expect(house.engine.plan.learning.trainedRoom(of: TagIndex(number: 0)) == nil)
        #expect(house.engine.plan.learning.trainedRoom(of: TagIndex(number: 1)) != nil)
    }

    @Test(arguments: [(0, 0), (3600, 3600), (10_000_000, 86_400)] as [(Int64, Int64)])
    func `After a restart a tag is in its room for as long as before`(stay: Int64, seconds: Int64) {
        var house = House([("k", "Kitchen")])
        let kitchen = RoomName.named("Kitchen")
        let now = MonotonicInstant.zero.advanced(by: .seconds(house.now))
        house.engine.restore([ReportedTag(id: "jane", isHome: true, room: kitchen, stay: .seconds(stay))], at: now)
        #expect(house.engine.states[TagIndex(number: 0)].since == now.advanced(by: .seconds(-seconds)))
    }

    @Test func `What was learned of a gateway that moved does not count`() {
        var house = Self.flat()
        house.seconds(120, Self.kitchen)
        house.pass(.card(gateway: "k", room: "Garage"))
        house.reported = []
        house.seconds(30, ["k": -55, "h": -85, "b": -85])
        #expect(house.reported.last == "Garage")
    }

    @Test(arguments: [3, 12])
    func `A tag that was last in a room without a gateway is reported in the room where it is heard`(rooms: Int) {
        var house = House((0..<rooms).map { ("g\($0)", "Room \($0)") })
        let study = RoomName.named("Study")
        house.engine.restore(
            [ReportedTag(id: "jane", isHome: true, room: study)], at: .zero.advanced(by: .seconds(house.now)))
        house.seconds(20, ["g0": -55, "g1": -70, "g2": -82])
        #expect(house.reported == ["Room 0"])
    }

    /// After a restart, a tag that any beacon of its UUID is.
    private func restored() -> House {
        var house = House([("k", "Kitchen"), ("h", "Hall")])
        let pattern = BeaconPattern(uuid: House.beacon.uuid, major: nil, minor: nil)
        house.pass(.tags([TagDescription(id: "any", name: "Any", pattern: pattern)]))
        let kitchen = RoomName.named("Kitchen")
        house.engine.restore(
            [ReportedTag(id: "any", isHome: true, room: kitchen)], at: .zero.advanced(by: .seconds(house.now)))
        return house
    }

    @Test func `A tag without major or minor that stayed is not reported again after a restart`() {
        var house = restored()
        house.seconds(8, ["k": Float?.none, "h": Float?.none])
        house.seconds(200, ["k": -50, "h": -75])
        #expect(house.home.isEmpty && house.engine.decided(ofTag: 0).room?.id == "kitchen")
        house.seconds(90, ["k": Float?.none, "h": Float?.none])
        #expect(house.home == [false])
    }

    @Test func `A tag without major or minor that went meanwhile is away after a restart, and not at once`() {
        var house = restored()
        house.seconds(8, ["k": Float?.none, "h": Float?.none])
        #expect(house.home.isEmpty && house.engine.decided(ofTag: 0).isHome)
        house.seconds(90, ["k": Float?.none, "h": Float?.none])
        #expect(house.home == [false])
    }

    @Test func `What stands for a tag without major or minor after a restart is the beacon of no other tag`() {
        var house = House([("k", "Kitchen"), ("h", "Hall")])
        let uuid = House.beacon.uuid
        let patterns = [(1, 2), (nil, nil), (1, 1), (2, 2)] as [(UInt16?, UInt16?)]
        let tags = patterns.enumerated().map { number, numbers in
            TagDescription(
                id: "t\(number)", name: "T\(number)",
                pattern: BeaconPattern(uuid: uuid, major: numbers.0, minor: numbers.1))
        }
        house.pass(.tags(tags))
        let kitchen = RoomName.named("Kitchen")
        house.engine.restore(
            tags.map { ReportedTag(id: $0.id, isHome: true, room: kitchen) },
            at: .zero.advanced(by: .seconds(house.now)))
        house.seconds(120, ["k": Float?.none, "h": Float?.none])
        #expect(tags.indices.map { house.engine.decided(ofTag: $0).isHome } == [false, false, false, false])
    }

    @Test func `A room keeps the form of its name that came first, unless its only gateway that counts writes another`()
    {
        var house = House([("k", "kitchen")])
        house.pass(.card(gateway: "k", room: "Kitchen"))
        house.pass(.card(gateway: "new", room: "KITCHEN"))
        #expect(house.engine.trustedRooms == [RoomName.named("Kitchen")])
        house.pass(.card(gateway: "new", room: "KITCHEN", isConfigured: true))
        #expect(house.engine.trustedRooms == [RoomName.named("Kitchen")])
    }

    @Test func `A room without a gateway that counts has the name of the latest card`() {
        var house = House([("k", "kitchen")], areKnown: false)
        house.pass(.card(gateway: "k", room: "Kitchen"))
        #expect(house.engine.knownRooms.map(\.name) == ["Kitchen"])
    }

    @Test func `A message that is repeated, or comes late, is not heard`() {
        var house = Self.flat()
        house.seconds(3, Self.kitchen)
        house.sequences["b", default: 0] -= 1
        house.send(from: "b", level: -20)
        #expect(house.engine.counters.repeated == 1)
    }

    @Test func `Beacons that are no tags are counted, and cost nothing else`() {
        var house = Self.flat()
        let readings = (0..<200).map {
            Reading(
                beacon: BeaconID(uuid: BeaconUUID(high: 9, low: 9), major: 1, minor: $0), count: 1, level: -50,
                power: -59, age: .zero)
        }
        house.pass(
            .heard(
                gateway: "k",
                HeardSecond(
                    startID: "a", sequence: 99, at: .seconds(10), listening: .seconds(1), reports: 1, readings: readings
                )))
        #expect(house.engine.counters.foreign == 200)
        #expect(house.reported.isEmpty)
    }

    @Test func `The same messages give the same decisions, with the gateways' seconds out of step too`() {
        func run() -> [String?] {
            var house = Self.flat()
            for number in 0..<200 {
                let level = Float(-60 + (number * 7919) % 23)
                house.second(["k": level, "h": level - 4, "b": -75])
            }
            return house.reported
        }
        #expect(run() == run())
    }

    @Test func `A tag by UUID alone is not at home because another tag with that UUID is`() {
        var house = House([("k", "Kitchen"), ("h", "Hall")])
        let uuid = BeaconPattern(uuid: House.beacon.uuid, major: nil, minor: nil)
        house.pass(
            .tags([
                TagDescription(id: "keys", name: "Keys", pattern: uuid),
                TagDescription(id: "jane", name: "Jane", pattern: House.pattern),
            ]))
        house.seconds(20, ["k": -50, "h": -80])
        #expect((0...1).map { house.engine.decided(ofTag: $0).isHome } == [false, true])
        // A beacon that no tag names exactly is the keys, and its silence alone lets them leave.
        let other = BeaconID(uuid: House.beacon.uuid, major: 9, minor: 9)
        house.wait(until: house.now + 1)
        house.send(from: "k", level: -50, beacon: other)
        #expect(house.engine.decided(ofTag: 0).isHome)
        #expect(!house.engine.explanation(ofTag: 0, at: .zero.advanced(by: .seconds(house.now))).levels.isEmpty)
        house.seconds(200, ["k": -50, "h": -80])
        #expect((0...1).map { house.engine.decided(ofTag: $0).isHome } == [false, true])
    }
}
