import Base
import Beacon
import Regions
import RoomsSupport
import SiteProtocol
import Testing

@testable import Rooms

/// A tag that lies still keeps its room, and one that is carried away changes it at once.
@Suite struct MovementTests {
    private var house = House([("k", "Kitchen"), ("h", "Hall"), ("o", "Office")])

    @Test mutating func `Where two rooms fit alike, a tag that lies still does not go back and forth for hours`() {
        house.lie(for: 14_400, ["k": -62, "h": -62, "o": -75])
        #expect(house.reported.count <= 3, "\(house.reported)")
    }

    @Test(arguments: [false, true])
    mutating func `While doors and people change the levels of a home for hours, a tag that lies still keeps its room`(
        isTrained: Bool
    ) {
        if isTrained {
            for (room, levels) in [
                ("Kitchen", ["k": -60, "h": -64, "o": -75]), ("Hall", ["k": -64, "h": -60, "o": -75]),
            ]
                as [(String, [String: Float?])]
            {
                house.pass(.learn(room: room, tag: "jane", .seconds(60)))
                house.lie(for: 60, levels)
            }
            house.pass(.learn(room: "Hall", tag: "jane", .zero))
        }
        house.lie(for: isTrained ? 7200 : 900, ["k": -60, "h": -64, "o": -75])
        #expect(house.reported.last == "Kitchen")
        house.reported = []
        // The difference between the two gateways changes slowly: from four decibels for the kitchen to two for the hall and back. After
        // training it goes to one for the hall: some minutes of levels as in the hall's training would rightly be reported as the hall.
        for step in [2, 1, 0, -1, -2, -1, 0, 1, 2, 3, 4, 3, 2, 1, 0, -1, -2, -1, 0, 1, 2, 3] as [Float] {
            let difference = max(step, isTrained ? -1 : -2)
            house.lie(for: 90, ["k": -62 + difference / 2, "h": -62 - difference / 2, "o": -75])
        }
        #expect(house.reported == [], "\(house.reported)")
    }

    @Test mutating func `The last level of a gateway that hears a tag only now and then does not make it move`() throws
    {
        house.seconds(60, ["k": -60, "h": -85, "o": -75])
        let tag = TagIndex(number: 0)
        let moved = try #require(house.engine.states[tag].movement.moved)
        house.second(["k": -60, "h": -73, "o": -75])
        house.seconds(60, ["k": -60, "h": nil, "o": -75])
        #expect(house.engine.states[tag].movement.moved == moved)
    }

    @Test(arguments: [(60, true), (7200, false)])
    mutating func `The longer a tag has not moved, the more clearly it has to move to seem to`(
        rest: Int, seems: Bool
    ) {
        house.seconds(rest, ["k": -60, "h": -66, "o": -75])
        let tag = TagIndex(number: 0)
        var hasSeemed = false
        for _ in 0..<6 {
            house.second(["k": -62, "h": -64, "o": -75])
            let state = house.engine.states[tag]
            if state.movement.restSeconds(at: state.judged ?? .zero) == 0 { hasSeemed = true }
        }
        #expect(hasSeemed == seems)
    }

    @Test(arguments: [4, 6])
    mutating func `A movement of a few decibels shows, also after an hour`(change: Float) throws {
        house.lie(for: 3600, ["k": -60, "h": -60 - change, "o": -75])
        let seconds = house.delay(until: "Hall", ["k": -60 - change, "h": -60, "o": -75])
        #expect(try #require(seconds) <= 45, "\(String(describing: seconds))")
    }

    @Test mutating func `Nodes that report every five seconds and gateways show a movement together`() throws {
        for _ in 0..<720 { roundOfBoth(kitchen: -60, hall: -66) }
        let tag = TagIndex(number: 0)
        let moved = try #require(house.engine.states[tag].movement.moved)
        for _ in 0..<12 { roundOfBoth(kitchen: -52, hall: -68) }
        #expect(try #require(house.engine.states[tag].movement.moved) > moved)
    }

    /// Five seconds: a node in the kitchen reports once, a gateway in the hall each second.
    private mutating func roundOfBoth(kitchen: Float, hall: Float) {
        let begin = house.now
        house.sendAsNode("k", level: kitchen, at: begin + 0.5)
        for second in 1...5 {
            house.wait(until: begin + Double(second))
            house.send(from: "h", level: hall)
        }
    }

    @Test(arguments: [1, 2, 5])
    mutating func `After hours in one place a tag is reported in the next room as soon as it is carried there`(
        _ interval: Int
    ) throws {
        house.lie(for: 7200, every: interval, ["k": -56, "h": -68, "o": -75])
        #expect(house.reported.last == "Kitchen")
        let seconds = house.delay(until: "Office", every: interval, ["k": -74, "h": -66, "o": -57])
        #expect(try #require(seconds) <= 4 + 2 * interval)
    }

    @Test mutating func `A gateway that returns, and hears a tag that lies still, does not make it move`() throws {
        house.seconds(900, ["k": -60, "h": -64])
        let tag = TagIndex(number: 0)
        let moved = try #require(house.engine.states[tag].movement.moved)
        house.seconds(5, ["k": -60, "h": -64, "o": -57])
        #expect(house.engine.states[tag].movement.moved == moved)
    }

    @Test mutating func `A node without telemetry that hears a tag loudly for the first time shows that it moves`()
        throws
    {
        house.seconds(900, ["k": -60, "h": -64])
        let tag = TagIndex(number: 0)
        let moved = try #require(house.engine.states[tag].movement.moved)
        house.sendAsNode("o", level: -57, at: house.now + 0.5)
        house.seconds(2, ["k": -60, "h": -64])
        #expect(try #require(house.engine.states[tag].movement.moved) > moved)
    }

    @Test(arguments: [nil, -63])
    mutating func `A gateway that begins to hear a tag loudly shows that the tag moves`(kitchen: Float?) throws {
        house.lie(for: 7200, ["k": -60, "h": nil, "o": nil])
        let seconds = house.delay(until: "Office", ["k": kitchen, "h": nil, "o": -57])
        #expect(try #require(seconds) <= 6, "\(String(describing: seconds))")
    }

    @Test(arguments: [1, 5])
    mutating func `A tag that is carried to where one other gateway alone hears it, and weakly, is soon reported there`(
        _ interval: Int
    ) throws {
        house.lie(for: 3600, every: interval, ["k": -60, "h": nil, "o": nil])
        let seconds = house.delay(until: "Office", every: interval, ["k": nil, "h": nil, "o": -82])
        #expect(try #require(seconds) <= 10 + 6 * interval, "\(String(describing: seconds))")
    }

    @Test mutating func `A tag that is carried through another room and back is soon reported where it lies`() throws {
        house.lie(for: 1800, ["k": -60, "h": -66, "o": -80])
        for _ in 0..<6 { house.place(["k": -74, "h": -52, "o": -80], hasPacket: true) }
        #expect(house.reported.last == "Hall")
        let seconds = house.delay(until: "Kitchen", ["k": -60, "h": -66, "o": -80])
        #expect(try #require(seconds) <= 12, "\(String(describing: seconds))")
    }

    @Test mutating func `A tag that was in twelve rooms before moves as soon as a further gateway hears it loudly`()
        throws
    {
        let numbers = 0..<14
        house = House(numbers.map { ("g\($0)", "Room \($0)") })
        func levels(_ room: Int) -> [String: Float?] {
            Dictionary(uniqueKeysWithValues: numbers.map { ("g\($0)", $0 == room ? -57 : Float?.none) })
        }
        for room in 1...12 { house.lie(for: 30, levels(room)) }
        house.lie(for: 1200, levels(0))
        let tag = TagIndex(number: 0)
        let moved = try #require(house.engine.states[tag].movement.moved)
        // The gateway of the room where it lay still hears it.
        let both = levels(13).merging(["g0": -63]) { $1 }
        for _ in 0..<3 { house.place(both) }
        #expect(try #require(house.engine.states[tag].movement.moved) > moved)
        let seconds = house.delay(until: "Room 13", both)
        #expect(try #require(seconds) <= 6)
    }

    @Test mutating func `What a gateway measured before its card was corrected holds no tag`() throws {
        house.lie(for: 1800, ["k": -60, "h": -66, "o": -80])
        house.pass(.card(gateway: "k", room: "Hall"))
        house.pass(.card(gateway: "h", room: "Kitchen"))
        let seconds = house.delay(until: "Hall", ["k": -60, "h": -66, "o": -80])
        #expect(try #require(seconds) <= 15, "\(String(describing: seconds))")
    }

    @Test mutating func `A phone that is silent for minutes lies where it lay`() throws {
        house.pass(.phones([House.beacon.uuid]))
        house.lie(for: 1800, ["k": -60, "h": -66, "o": -80])
        let tag = TagIndex(number: 0)
        let moved = try #require(house.engine.states[tag].movement.moved)
        house.lie(for: 800, every: 200, ["k": -60, "h": -66, "o": -80])
        #expect(house.engine.states[tag].movement.moved == moved)
    }

    @Test(arguments: [false, true])
    mutating func `How soon a tag of ESPresense nodes has moved depends on its own messages alone`(
        hasOther: Bool
    ) throws {
        let other = BeaconID(uuid: House.beacon.uuid, major: 3, minor: 5)
        let pattern = BeaconPattern(uuid: other.uuid, major: 3, minor: 5)
        house.pass(.tags(house.engine.tags + [TagDescription(id: "bob", name: "Bob", pattern: pattern)]))
        func round(_ house: inout House, kitchen: Float, hall: Float) {
            let begin = house.now
            // Nodes that send each second: a count of their windows in place of `nodeReportSeconds` would be five times as quick.
            house.sendAsNode("k", level: kitchen, at: begin + 0.2)
            house.sendAsNode("h", level: hall, at: begin + 0.4)
            if hasOther { house.send(from: "o", level: -60, beacon: other) }
            house.wait(until: begin + 1)
        }
        for _ in 0..<300 { round(&house, kitchen: -60, hall: -75) }
        let (tag, begin) = (TagIndex(number: 0), house.now)
        let moved = try #require(house.engine.states[tag].movement.moved)
        for _ in 0..<100 where house.engine.states[tag].movement.moved == moved {
            round(&house, kitchen: -75, hall: -60)
        }
        #expect((40...60).contains(house.now - begin), "\(house.now - begin)")
    }

    @Test mutating func `A body that turns is no movement: all gateways hear the tag less well`() throws {
        house.lie(for: 600, ["k": -56, "h": -64, "o": -70])
        let tag = TagIndex(number: 0)
        let moved = try #require(house.engine.states[tag].movement.moved)
        house.lie(for: 60, ["k": -64, "h": -72, "o": -78])
        #expect(house.engine.states[tag].movement.moved == moved)
        house.lie(for: 10, ["k": -74, "h": -68, "o": -68])
        #expect(try #require(house.engine.states[tag].movement.moved) > moved)
    }

    @Test mutating func `A tag that comes home again counts as one that moves`() throws {
        house.lie(for: 3600, ["k": -56, "h": -68, "o": -75])
        house.lie(for: 300, ["k": nil, "h": nil, "o": nil])
        #expect(house.home == [true, true, false])
        let seconds = house.delay(until: "Kitchen", ["k": -56, "h": -68, "o": -75])
        #expect(try #require(seconds) <= 4)
        let tag = TagIndex(number: 0)
        let judged = try #require(house.engine.states[tag].judged)
        #expect(house.engine.states[tag].movement.restSeconds(at: judged) < 5)
    }

    @Test func `A course has the mean of its levels and what the latest ones deviate from it`() {
        let tuning = LevelCourseTuning()
        var course = LevelCourse(level: -60)
        for _ in 0..<400 { course.add(-60, tuning) }
        #expect((course.mean, course.deviation) == (-60, 0))
        #expect(course.count == 255)
        for _ in 0..<3 { course.add(-50, tuning) }
        #expect(course.mean < -59)
        #expect((7...9).contains(course.deviation), "\(course.deviation)")
        course.beginAnew()
        #expect((-53 ... -51).contains(course.mean), "\(course.mean)")
        #expect(course.deviation == 0)
    }

    @Test func `Levels beyond all that a radio measures do no harm`() {
        var course = LevelCourse(level: -139)
        for level: Float in [51, -139, 51, -139, -60] { course.add(level, LevelCourseTuning()) }
        #expect((-120...120).contains(course.deviation))
    }

    @Test func `What is kept of a gateway takes 24 bytes`() { #expect(MemoryLayout<HeardLevel>.stride == 24) }
}
