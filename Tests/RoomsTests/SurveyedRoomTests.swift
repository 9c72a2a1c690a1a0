import RoomsSupport
import SiteProtocol
import Testing

@testable import Rooms

/// What the levels between gateways say of the room of a tag.
@Suite struct SurveyedRoomTests {
    private let tuning = RoomTuning()

    /// Three rooms in a row, and what their gateways hear of each other.
    private static func flat() -> House { House([("k", "Kitchen"), ("h", "Hall"), ("b", "Bedroom")]) }

    private static func levels(without left: String? = nil, offsets: [String: Float] = [:]) -> SurveyedLevels {
        let all: [(String, String, Float)] = [("k", "h", -60), ("h", "b", -60), ("k", "b", -85)]
        let pairs = all.flatMap { one, other, level in
            [(one, other), (other, one)].map { SurveyedLevels.Pair(sender: $0, receiver: $1, level: level) }
        }
        return SurveyedLevels(pairs: pairs.filter { $0.sender != left && $0.receiver != left }, offsets: offsets)
    }

    /// The hall hears it best, and the bedroom as little as of what is in the kitchen.
    private static let doubtful: [String: Float?] = ["k": -60, "h": -58, "b": -86]

    private func room(_ means: [Float]) -> SurveyedRoom {
        SurveyedRoom(means.enumerated().map { (GatewayIndex(number: $0), $1) }, tuning)
    }

    private func window(_ levels: [Float?], packets: Int16 = 1) -> LevelVector {
        var vector = LevelVector()
        vector.levels = Table(levels.map { OptionalLevel($0 ?? tuning.silence.missLevel) })
        vector.heard = levels.indices.filter { levels[$0] != nil }.map(GatewayIndex.init(number:))
        vector.packets = packets
        return vector
    }

    private func logLikelihood(in room: SurveyedRoom, _ vector: LevelVector) -> Float {
        var window = SurveyedWindow(tuning)
        window.take(vector, knownIn: room, tuning)
        return window.logLikelihood(in: room, vector.levels)
    }

    // MARK: In the engine

    @Test func `A tag is in the room whose gateway is heard elsewhere as the tag is`() {
        for (levels, room) in [(SurveyedLevels(), "Hall"), (Self.levels(), "Kitchen")] {
            var house = Self.flat()
            house.pass(.levels(levels))
            house.seconds(30, Self.doubtful)
            #expect(house.reported == [nil, room])
        }
    }

    @Test func `What a gateway without a room hears of others counts once it was heard itself`() {
        var house = House([("k", "Kitchen"), ("h", "Hall")])
        house.pass(.levels(Self.levels()))
        for _ in 0..<2 { house.send(from: "b", level: -80) }
        house.pass(.levels(Self.levels()))
        #expect(house.engine.plan.surveyedLevel(of: "b", in: "Kitchen") != nil)
    }

    @Test func `Of each room the same receivers are known`() {
        var house = House([("k", "Kitchen"), ("h", "Hall"), ("b", "Bedroom"), ("a", "Attic"), ("l", "Kitchen")])
        house.pass(.levels(Self.levels()))
        let gateways = house.engine.plan.hearing.gateways.indices
        let rooms = house.engine.plan.learning.rooms.elements.map(\.surveyed).filter { !$0.cells.isEmpty }
        #expect(
            rooms.map { room in gateways.filter(room.isKnown).map(\.number) } == [[0, 1, 2], [0, 1, 2], [0, 1, 2]])
    }

    @Test func `Levels that are not told again are over`() {
        var house = Self.flat()
        house.pass(.levels(Self.levels()))
        house.pass(.levels(SurveyedLevels()))
        house.seconds(30, Self.doubtful)
        #expect(house.reported == [nil, "Hall"])
    }

    @Test func `A gateway that names another room counts for nothing until its levels are measured there`() {
        var house = Self.flat()
        house.pass(.levels(Self.levels()))
        for gateway in ["k", "h", "b"] { #expect(!house.engine.plan.wasCarried(gateway: gateway)) }
        house.seconds(5, ["k": nil, "h": nil, "b": nil])
        house.pass(.card(gateway: "k", room: "Attic"))
        #expect(house.engine.plan.wasCarried(gateway: "k"))
        house.pass(.levels(Self.levels()))
        #expect(house.engine.plan.surveyedRooms == ["Hall", "Bedroom"])
        house.pass(.levels(Self.levels(without: "k")))
        #expect(!house.engine.plan.wasCarried(gateway: "k"))
        house.pass(.levels(Self.levels()))
        #expect(house.engine.plan.surveyedRooms == ["Hall", "Bedroom", "Attic"])
    }

    @Test func `Where a card names another room nothing is known until the levels are told again`() {
        var house = Self.flat()
        house.pass(.levels(Self.levels()))
        house.seconds(5, ["k": nil, "h": nil, "b": nil])
        house.pass(.card(gateway: "b", room: "Attic"))
        #expect(house.engine.plan.surveyedRooms == [])
    }

    @Test func `A forgotten gateway takes what was measured with it`() {
        var house = Self.flat()
        house.pass(.levels(Self.levels()))
        house.pass(.forget(gateway: "k"))
        #expect(house.engine.plan.surveyedRooms == [])
        #expect(!house.engine.plan.wasCarried(gateway: "k"))
    }

    // MARK: In one room

    @Test func `What is louder or quieter by the same everywhere fits almost as well`() {
        let here = room([-55, -70, -80])
        let fit = logLikelihood(in: here, window([-55, -70, -80]))
        #expect(logLikelihood(in: here, window([-63, -78, -88])) > fit - 0.3)
        #expect(logLikelihood(in: here, window([-63, -62, -88])) < fit - 1)
    }

    @Test func `One gateway far from what is expected says no more than that it is wrong here`() {
        let here = room([-55, -70, -80])
        let wrong = logLikelihood(in: here, window([-55, -70, -30]))
        #expect(wrong > logLikelihood(in: here, window([-55, -70, -80])) - 12)
    }

    @Test func `A gateway of which nothing is known says nothing`() {
        let here = SurveyedRoom([(GatewayIndex(number: 0), -55), (GatewayIndex(number: 2), -70)], tuning)
        let without = logLikelihood(in: here, window([-60, nil, -70]))
        #expect(logLikelihood(in: here, window([-60, -40, -70, -40])) == without)
    }

    @Test func `The silence of a gateway that should hear the tag speaks against the room`() {
        let (near, far) = (room([-55, -60]), room([-55, -98]))
        let silent = window([-55, nil], packets: 4)
        #expect(logLikelihood(in: near, silent) < logLikelihood(in: far, silent) - 1)
    }

    @Test func `Only the silence of the loudest counts, however many gateways there are`() {
        let many = room([Float](repeating: -60, count: 100))
        let silence = logLikelihood(in: many, window([Float?](repeating: nil, count: 100), packets: 9))
        #expect(silence > -2.1 * Float(RoomLevels.mostCells) && silence < -1.5 * Float(RoomLevels.mostCells))
    }

    @Test func `It fades where people trained, and where the engine has decided`() {
        let here = room([-55, -60])
        #expect(here.seconds(labelled: 0, decided: 0, tuning.surveyed) == 600)
        #expect(here.seconds(labelled: 120, decided: 0, tuning.surveyed) < 50)
        #expect(here.seconds(labelled: 0, decided: 10_000, tuning.surveyed) == 300)
        #expect(SurveyedRoom().seconds(labelled: 0, decided: 0, tuning.surveyed) == 0)
    }

    @Test func `A gateway measures more in its own room, too`() {
        var house = Self.flat()
        house.pass(.levels(Self.levels(offsets: ["k": 6])))
        #expect(
            house.engine.plan.surveyedLevel(of: "k", in: "Kitchen")
                == house.engine.plan.surveyedLevel(of: "b", in: "Bedroom").map { $0 + 6 })
    }
}

extension SitePlan {
    /// The rooms of which the levels between gateways say something.
    fileprivate var surveyedRooms: [String] {
        hearing.rooms.indices.filter { !learning.rooms[$0].surveyed.cells.isEmpty }.map { hearing.rooms[$0].name.name }
    }

    fileprivate func surveyedLevel(of gateway: String, in room: String) -> Float? {
        guard let gateway = hearing.gateway(named: gateway),
            let room = hearing.rooms.indices.first(where: { hearing.rooms[$0].name.name == room })
        else { return nil }
        let cells = learning.rooms[room].surveyed.cells
        return cells.contains(index: gateway) && !cells[gateway].mean.isNaN ? cells[gateway].mean : nil
    }
}
