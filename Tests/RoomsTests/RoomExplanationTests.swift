import Base
import Beacon
import Regions
import RoomsSupport
import SiteProtocol
import Testing

@testable import Rooms

/// What people are told of a decision, of a training run and of a gateway.
@Suite struct RoomExplanationTests {
    private static let kitchen: [String: Float?] = ["k": -55, "h": -70]
    private static let hall: [String: Float?] = ["k": -70, "h": -54]

    private func flat() -> House { House([("k", "Kitchen"), ("h", "Hall")]) }

    private func explanation(_ house: House) -> TagExplanation {
        house.engine.explanation(ofTag: 0, at: MonotonicInstant(nanoseconds: Int64(house.now * 1e9)))
    }

    private func leaveTimeout(_ house: House) -> Duration? {
        house.engine.leaveTimeout(ofTag: 0, at: MonotonicInstant(nanoseconds: Int64(house.now * 1e9)))
    }

    /// Two minutes in a room whose levels vary by some decibels.
    private func train(_ house: inout House, _ room: String, _ levels: [String: Float?]) {
        house.pass(.learn(room: room, tag: "jane", .seconds(120)))
        for second in 0..<121 {
            let shift = Float((second * 7) % 13) - 6
            house.second(levels.mapValues { $0.map { $0 + shift } })
        }
    }

    @Test func `A tag that was never heard is not at home, and nothing is believed of it`() {
        let explanation = explanation(flat())
        #expect(!explanation.isHome && explanation.room == nil && explanation.belief.isEmpty)
        #expect(explanation.levels.isEmpty && explanation.training == nil)
    }

    @Test func `The reasons name each gateway that hears the tag and each probable room, the strongest first`() {
        var house = flat()
        house.seconds(10, Self.hall)
        let explanation = explanation(house)
        #expect(explanation.room?.name == "Hall")
        #expect(explanation.levels.map(\.gateway) == ["h", "k"])
        #expect(explanation.levels.map(\.level) == [-54, -70])
        #expect(explanation.levels.first?.room?.name == "Hall")
        #expect(explanation.belief.first?.room.name == "Hall")
        #expect(abs(explanation.belief.reduce(0) { $0 + $1.probability } - 1) < 0.001)
    }

    @Test func `It says after which silence the tag is away, and it is`() throws {
        var house = flat()
        house.seconds(60, Self.hall)
        let timeout = try #require(leaveTimeout(house)).inSeconds
        house.seconds(Int(timeout) - 1, ["k": nil, "h": nil])
        #expect(explanation(house).isHome)
        house.seconds(3, ["k": nil, "h": nil])
        #expect(!explanation(house).isHome)
        #expect(leaveTimeout(house) == nil)
    }

    private func influences(_ house: House) -> [ReadingInfluence] {
        house.engine.influences(ofTag: 0)
    }

    @Test func `The strongest reading speaks most for its room, and the reading of another room against it`() {
        var house = flat()
        house.seconds(10, Self.hall)
        let influences = influences(house)
        #expect(influences.map(\.gateway) == ["h", "k"])
        #expect(influences.map(\.level) == [-54, -70])
        #expect(influences.allSatisfy { $0.room.name == "Hall" })
        #expect(influences.map { $0.logOdds > 0 } == [true, false])
    }

    @Test func `Where people trained, the silence of a gateway speaks for a room, too`() throws {
        var house = House([("k", "Kitchen"), ("h", "Hall"), ("a", "Attic")])
        train(&house, "Kitchen", ["k": -60, "h": -62, "a": -80])
        train(&house, "Hall", ["k": -60, "h": -62, "a": nil])
        house.seconds(10, ["k": -60, "h": -62, "a": nil])
        let influences = influences(house)
        let attic = try #require(influences.first { $0.gateway == "a" }, "\(influences)")
        #expect(attic.room.name == "Hall" && attic.level == nil && attic.logOdds > 0)
    }

    @Test func `The reasons for a tag do not depend on when another tag was heard`() {
        var house = flat()
        let other = BeaconID(uuid: House.beacon.uuid, major: 3, minor: 5)
        let pattern = BeaconPattern(uuid: other.uuid, major: 3, minor: 5)
        house.pass(.tags(house.engine.tags + [TagDescription(id: "bob", name: "Bob", pattern: pattern)]))
        for (room, levels) in [("Kitchen", Self.kitchen), ("Hall", Self.hall)] { train(&house, room, levels) }
        house.send(from: "h", level: -60, beacon: other)
        house.seconds(30, Self.hall)
        let influences = influences(house)
        house.send(from: "h", level: -60, beacon: other)
        house.wait(until: house.now + 2)
        #expect(house.engine.judgement.observation.window.elapsed > 20)
        #expect(self.influences(house) == influences)
        #expect(!influences.isEmpty)
    }

    @Test func `Of many readings three are named, the largest influence first`() {
        var house = House((1...6).map { ("g\($0)", "Room \($0)") })
        house.seconds(10, ["g1": -50, "g2": -56, "g3": -58, "g4": -60, "g5": -62, "g6": -64])
        let sizes = influences(house).map { abs($0.logOdds) }
        #expect((1...3).contains(sizes.count) && sizes == sizes.sorted(by: >))
    }

    @Test func `A tag that is away, and a tag that does not exist, have no influences`() {
        let house = flat()
        #expect(influences(house).isEmpty)
        #expect(house.engine.influences(ofTag: 7).isEmpty)
    }

    @Test func `A room is reported from a lower probability where people trained`() {
        var house = flat()
        house.seconds(10, Self.hall)
        #expect(explanation(house).needed == house.engine.tuning.report.reportProbability)
        train(&house, "Hall", Self.hall)
        #expect(explanation(house).needed < house.engine.tuning.report.reportProbability)
    }

    @Test func `A training run tells its room, its end and the seconds in which the tag was heard`() throws {
        var house = flat()
        house.seconds(3, Self.kitchen)
        house.pass(.learn(room: "Kitchen", tag: "jane", .seconds(120)))
        house.seconds(20, Self.kitchen)
        let during = try #require(explanation(house).training)
        #expect(during.room.name == "Kitchen" && !during.isOver)
        #expect(during.began.duration(to: during.until) == .seconds(120))
        #expect((17...20).contains(during.learned))
        house.seconds(101, [:])
        let after = try #require(explanation(house).training)
        #expect(after.isOver)
        #expect(after.learned == during.learned)
    }

    @Test func `A training run stays with its tag when another tag comes before it`() throws {
        var house = flat()
        house.pass(.learn(room: "Kitchen", tag: "jane", .seconds(120)))
        let other = BeaconPattern(uuid: House.beacon.uuid, major: 3, minor: 5)
        house.pass(.tags([TagDescription(id: "other", name: "Other", pattern: other)] + house.engine.tags))
        let now = MonotonicInstant(nanoseconds: Int64(house.now * 1e9))
        #expect(house.engine.explanation(ofTag: 0, at: now).training == nil)
        #expect(try #require(house.engine.explanation(ofTag: 1, at: now).training).room.name == "Kitchen")
    }

    @Test func `A training run that is ended early is over`() throws {
        var house = flat()
        house.pass(.learn(room: "Kitchen", tag: "jane", .seconds(120)))
        house.seconds(5, Self.kitchen)
        house.pass(.learn(room: "Kitchen", tag: "jane", .zero))
        #expect(try #require(explanation(house).training).isOver)
    }

    @Test func `Rooms whose levels differ are told apart after their training`() throws {
        var house = flat()
        train(&house, "Kitchen", Self.kitchen)
        train(&house, "Hall", Self.hall)
        let confusion = try #require(house.engine.plan.confusion(ofRoom: "kitchen"))
        #expect(confusion.seconds > 20)
        #expect(confusion.alone == 0)
        #expect((confusion.mistaken.first?.share ?? 0) < 0.1, "\(confusion)")
    }

    @Test func `Rooms in which gateways hear the same are mistaken for each other`() throws {
        var house = flat()
        train(&house, "Kitchen", Self.kitchen)
        train(&house, "Larder", Self.kitchen)
        train(&house, "Hall", Self.hall)
        let confusion = try #require(house.engine.plan.confusion(ofRoom: "kitchen"))
        #expect(confusion.mistaken.first?.room.name == "Larder")
        #expect((confusion.mistaken.first?.share ?? 0) > 0.3, "\(confusion)")
    }

    @Test func `A room that was trained in one spot is not mistaken for one far away`() throws {
        var house = flat()
        for (room, levels) in [("Kitchen", Self.kitchen), ("Hall", Self.hall)] {
            house.pass(.learn(room: room, tag: "jane", .seconds(60)))
            house.seconds(61, levels)
        }
        let confusion = try #require(house.engine.plan.confusion(ofRoom: "kitchen"))
        #expect((confusion.mistaken.first?.share ?? 0) < 0.25, "\(confusion)")
    }

    @Test func `A room that only one gateway hears is said to be heard by it alone`() throws {
        var house = flat()
        train(&house, "Kitchen", ["k": -60, "h": nil])
        #expect(try #require(house.engine.plan.confusion(ofRoom: "kitchen")).alone == 1)
    }

    @Test func `A room that was not trained has no result`() {
        var house = flat()
        house.seconds(20, Self.kitchen)
        #expect(house.engine.plan.confusion(ofRoom: "kitchen") == nil)
        #expect(house.engine.plan.confusion(ofRoom: "attic") == nil)
    }

    @Test func `A gateway that is silent for long does not listen, and one that was forgotten is not listed`() {
        var house = flat()
        house.seconds(3, Self.kitchen)
        #expect(house.engine.plan.gatewayReports.map(\.isListening) == [true, true])
        house.seconds(40, ["h": -70])
        #expect(house.engine.plan.gatewayReports.map(\.isListening) == [false, true])
        house.pass(.forget(gateway: "k"))
        #expect(house.engine.plan.gatewayReports.map(\.name) == ["h"])
    }

    @Test func `Rooms tell their gateways and how much of them was learned`() {
        var house = flat()
        train(&house, "Kitchen", Self.kitchen)
        let rooms = house.engine.plan.roomReports
        #expect(rooms.map(\.name.name) == ["Kitchen", "Hall"])
        #expect(rooms.map(\.gateways) == [["k"], ["h"]])
        #expect(rooms[0].labelledSeconds > 20 && rooms[1].labelledSeconds == 0)
    }
}
