import Testing

@testable import Rooms

extension GatewayIndex: ExpressibleByIntegerLiteral {
    public init(integerLiteral number: Int) { self.init(number: number) }
}

/// What the engine learned from its own decisions.
struct RoomLevelsTests {
    private let tuning = RoomTuning()

    /// A window in which these gateways heard the tag, of so many that listen.
    private func window(_ levels: [Int: Float], of gateways: Int, packets: Int16 = 1) -> LevelVector {
        var vector = LevelVector()
        vector.levels = Table((0..<gateways).map { OptionalLevel(levels[$0] ?? tuning.silence.missLevel) })
        vector.heard = levels.keys.sorted().map(GatewayIndex.init(number:))
        vector.packets = packets
        return vector
    }

    private func learn(_ room: inout RoomLevels, _ levels: [(GatewayIndex, Float)], seconds: Int) {
        let window = levels.map { FingerprintLevel(gateway: $0.0, eighths: Int16($0.1 * 8)) }
        for _ in 0..<seconds { room.add(window[...], seconds: 1, tuning) }
    }

    @Test func `A window fits the room in which such windows were learned`() {
        var kitchen = RoomLevels()
        var hall = RoomLevels()
        learn(&kitchen, [(0, -55), (1, -75)], seconds: 300)
        learn(&hall, [(0, -75), (1, -55)], seconds: 300)
        let heard = window([0: -57, 1: -73], of: 2)
        #expect(kitchen.logLikelihood(heard, tuning) > hall.logLikelihood(heard, tuning) + 3)
    }

    @Test func `A few wrong windows change little`() {
        var room = RoomLevels()
        learn(&room, [(0, -55), (1, -75)], seconds: 300)
        let before = room.logLikelihood(window([0: -75, 1: -55], of: 2), tuning)
        learn(&room, [(0, -75), (1, -55)], seconds: 6)
        #expect(room.logLikelihood(window([0: -75, 1: -55], of: 2), tuning) < before + 2)
    }

    @Test func `A gateway that was never heard in a room speaks against it`() {
        var room = RoomLevels()
        learn(&room, [(0, -55)], seconds: 300)
        let without = room.logLikelihood(window([0: -55], of: 2), tuning)
        #expect(room.logLikelihood(window([0: -55, 1: -60], of: 2), tuning) < without - 3)
    }

    @Test func `One packet that a gateway lost says less than several`() {
        var room = RoomLevels()
        learn(&room, [(0, -55), (1, -60)], seconds: 300)
        let one = room.logLikelihood(window([0: -55], of: 2), tuning)
        #expect(room.logLikelihood(window([0: -55], of: 2, packets: 8), tuning) < one - 2)
    }

    @Test func `A gateway that was not listening says nothing about the room`() {
        var room = RoomLevels()
        learn(&room, [(0, -55)], seconds: 100)
        room.welcome(gateway: 1)
        #expect(room.cells.map(\.unknown) == [0, 100])
        let heard = window([0: -55, 1: -60], of: 2)
        var listening = RoomLevels()
        learn(&listening, [(0, -55)], seconds: 100)
        #expect(room.logLikelihood(heard, tuning) > listening.logLikelihood(heard, tuning) + 2)
    }

    @Test func `What a gateway measured is forgotten`() {
        var room = RoomLevels()
        learn(&room, [(0, -55), (1, -75)], seconds: 100)
        room.forget(gateway: 0)
        #expect(room.cells == [.init(gateway: 0, unknown: 100), room.cells[1]])
        #expect(room.cells[1].heard == 100)
    }

    @Test func `After ten hours what was learned before counts half`() {
        var room = RoomLevels()
        room.add([FingerprintLevel(gateway: 0, eighths: -440)][...], seconds: 36_000, tuning)
        room.add([FingerprintLevel(gateway: 0, eighths: -440)][...], seconds: 1, tuning)
        #expect(room.seconds == 18_000.5)
        #expect(room.cells.first?.heard == 18_000.5)
        #expect(room.cells.first?.mean == -55)
    }

    @Test func `Gateways of one room are bounded`() {
        var room = RoomLevels()
        for gateway in 0..<100 { learn(&room, [(GatewayIndex(number: gateway), -60)], seconds: 1) }
        #expect(room.cells.count == RoomLevels.mostCells)
        #expect(room.cells.map(\.gateway.number) == Array(0..<24))
    }

    @Test func `Of a gateway for which there was no place as little is known as of a new one`() {
        var full = RoomLevels()
        learn(&full, (0..<24).map { (GatewayIndex(number: $0), -60) }, seconds: 100)
        var room = RoomLevels()
        learn(&room, (0..<23).map { (GatewayIndex(number: $0), -60) }, seconds: 100)
        room.welcome(gateway: 24)
        /// What the level of the further gateway says.
        func part(_ room: RoomLevels) -> Float {
            room.logLikelihood(window([0: -60, 24: -50], of: 25), tuning)
                - room.logLikelihood(window([0: -60], of: 24), tuning)
        }
        #expect(abs(part(full) - part(room)) < 0.001)
    }

    @Test(
        arguments: [
            LearnedSite.Levels(seconds: -1), LearnedSite.Levels(seconds: .infinity), LearnedSite.Levels(seconds: 1e9),
            LearnedSite.Levels(
                seconds: 10, cells: [.init(gateway: 7, heard: 1, unknown: 0, mean: -60, squares: 0)]),
            LearnedSite.Levels(
                seconds: 10, cells: [.init(gateway: 0, heard: 100, unknown: 0, mean: -60, squares: 0)]),
            LearnedSite.Levels(
                seconds: 10, cells: [.init(gateway: 0, heard: 1, unknown: 0, mean: .nan, squares: 0)]),
            LearnedSite.Levels(
                seconds: 10, cells: [.init(gateway: 0, heard: 1, unknown: 0, mean: -60, squares: -1)]),
        ]) func `What cannot be is not taken over`(kept: LearnedSite.Levels)
    {
        #expect(RoomLevels(kept, [0, 1], tuning).cells.isEmpty)
    }

    @Test func `What is kept comes back`() {
        var room = RoomLevels()
        learn(&room, [(0, -55), (1, -75)], seconds: 100)
        let again = RoomLevels(room.kept, [0, 1], tuning)
        #expect(again.cells == room.cells)
        #expect(again.seconds == room.seconds)
    }
}
