import RoomRules
import Testing

/// What the rule says is what Bermuda says.
@Suite struct BermudaRuleTests {
    /// Seconds between two cycles of Bermuda.
    private static let cycle = 1.05
    /// Two receivers in room 0, and one in room 1.
    private static let rooms = [0, 0, 1]

    /// Invented levels of 600 cycles, a third of the packets lost, in which the tag goes between the rooms each hundred cycles and is
    /// silent for forty.
    private static let levels: [[(gateway: Int, level: Double)]] = {
        var state = 58
        func chance(_ below: Int) -> Int {
            state = (state * 1_103_515_245 + 12_345) & 0x7fff_ffff
            return (state >> 16) % below
        }
        return (0..<600).map { cycle in
            let near = cycle % 200 < 100 ? [-60, -66, -72] : [-74, -70, -60]
            return rooms.indices.compactMap { gateway in
                let (noise, isLost) = (chance(31) - 15, chance(3) == 0)
                return isLost || 300..<340 ~= cycle ? nil : (gateway, Double(near[gateway] + noise))
            }
        }
    }()

    /// The cycles in which the room changes, -1 for none.
    private static func changes(
        of levels: [[(gateway: Int, level: Double)]], computations: Int = 2
    ) -> [[Int]] {
        var (rule, found): (Bermuda, [[Int]]) = (Bermuda(rooms: rooms, computationsPerCycle: computations), [])
        for (number, heard) in levels.enumerated() {
            let time = Double(number) * cycle
            for (gateway, level) in heard { rule.hear(level, gateway: gateway, at: time - 0.3) }
            rule.tick(at: time)
            let room = rule.room ?? -1
            if found.last?[1] != room { found.append([number, room]) }
        }
        return found
    }

    /// From `calculate_data` and `_refresh_area_by_min_distance` themselves, as they are in Bermuda at `cd46d17`, called with these levels
    /// as Bermuda calls them: the first twice for a beacon in each cycle.
    @Test func `It changes the room in the same cycles as Bermuda`() {
        #expect(
            Self.changes(of: Self.levels) == [
                [0, 0], [5, 1], [6, 0], [102, 1], [140, 0], [141, 1], [198, 0], [199, 1], [203, 0], [300, 1],
                [328, -1], [340, 1], [405, 0], [413, 1], [416, 0], [500, 1], [544, 0], [546, 1], [550, 0], [551, 1],
                [564, 0], [568, 1], [569, 0], [574, 1],
            ])
    }

    @Test func `A receiver that hears the tag no more keeps it for thirty seconds, however well another hears it`() {
        let levels = [[(0, -50.0), (2, -56.0)]] + Array(repeating: [(2, -56.0)], count: 40)
        #expect(Self.changes(of: levels) == [[0, 0], [29, 1]])
    }

    @Test func `A tag that comes back is where it is heard then, whatever was heard before`() {
        let levels =
            Array(repeating: [(0, -50.0)], count: 20) + Array(repeating: [], count: 40)
            + Array(repeating: [(0, -75.0), (2, -70.0)], count: 10)
        #expect(Self.changes(of: levels) == [[0, 0], [48, -1], [60, 1]])
    }

    /// A challenger that is a fifth closer needs four computations.
    @Test(arguments: [(2, 11), (1, 13)])
    func `What is followed by a fixed address is computed once in each cycle`(computations: Int, cycle: Int) {
        let levels = Array(repeating: [(0, -60.0)], count: 10) + Array(repeating: [(0, -60.0), (2, -57.0)], count: 10)
        #expect(Self.changes(of: levels, computations: computations) == [[0, 0], [cycle, 1]])
    }

    /// No rule changes its room a minute after the last reading, so that the ticks of a pause are passed over.
    @Test(arguments: [20.0, 61, 100, 4000])
    func `A pause of any length ends as if each second of it was counted`(pause: Double) {
        for (name, rule) in peerRules(rooms: Self.rooms) {
            let readings = (0..<40).map { number in
                let time = Double(number) + 0.317 + (number < 20 ? 0 : pause)
                return PeerReading(time: time, level: number % 3 == 0 ? -60 : -70, gateway: number * 7 % 3)
            }
            let end = 200 + pause
            #expect(Self.rooms(rule, readings, end) == Self.roomsOfEachSecond(rule, readings, end), "\(name)")
        }
    }

    private static func rooms(_ rule: any PeerRule, _ readings: [PeerReading], _ end: Double) -> [Int] {
        var rule = rule
        return rule.play(readings, in: 0...end).map(\.room)
    }

    private static func roomsOfEachSecond(_ rule: any PeerRule, _ readings: [PeerReading], _ end: Double) -> [Int] {
        var (rule, found, tickAt) = (rule, [Int](), 0.0)
        func note() { if let room = rule.room, found.last != room { found.append(room) } }
        for reading in readings + [PeerReading(time: end, level: 0, gateway: -1)] {
            while tickAt <= reading.time {
                rule.tick(at: tickAt)
                note()
                tickAt += cycle
            }
            guard reading.gateway >= 0 else { continue }
            rule.hear(reading.level, gateway: Int(reading.gateway), at: reading.time)
            note()
        }
        return found
    }

    /// A clock that was set from 1970: 1.7 billion ticks.
    @Test(.timeLimit(.minutes(1))) func `A pause of fifty years takes no time`() {
        for (_, rule) in peerRules(rooms: Self.rooms) {
            let readings = [5, 1_790_000_000].map { PeerReading(time: $0, level: -60, gateway: 2) }
            #expect(Self.rooms(rule, readings, 1_790_000_100) == [1])
        }
    }

    @Test func `A tag of which nothing is heard for thirty seconds is in no room`() {
        #expect(Self.changes(of: [[(0, -50.0)]] + Array(repeating: [], count: 40)) == [[0, 0], [29, -1]])
    }
}
