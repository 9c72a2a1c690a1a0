import Beacon
import Regions
import Rooms
import Testing

/// When a tag that is no longer heard is away: only when the gateways that could have heard it say that they are there.
@Suite struct DepartureTests {
    private static let rooms = [("g1", "Kitchen"), ("g2", "Hall")]
    /// The gateway sends a message without the tag.
    private let silence = Float?.none

    /// A tag that has been in the kitchen for two minutes.
    private func house() -> House {
        var house = House(Self.rooms)
        house.seconds(120, ["g1": -50, "g2": -75])
        return house
    }

    @Test func `A tag that falls silent is away as soon as its leave timeout is over and the gateways have spoken`() {
        var house = house()
        #expect(house.home.last == true)
        house.seconds(60, ["g1": silence, "g2": silence])
        #expect(house.home.last == false)
    }

    @Test func `While no gateway is heard, no tag goes away, however long that lasts`() {
        var house = house()
        house.seconds(600, [:])
        #expect(!house.home.contains(false))
    }

    @Test func `After an interruption the tag that is heard again has never been away`() {
        var house = house()
        house.seconds(20, [:])
        house.pass(.connected(false))
        house.seconds(40, [:])
        house.pass(.connected(true))
        // The other gateway is the first to be heard again, without the tag.
        house.seconds(3, ["g2": silence])
        house.seconds(5, ["g1": -50, "g2": -75])
        #expect(!house.home.contains(false))
    }

    @Test func `A tag that left during an interruption is away when the gateways have spoken`() {
        var house = house()
        house.pass(.connected(false))
        house.seconds(60, [:])
        house.pass(.connected(true))
        house.seconds(3, ["g1": silence])
        #expect(!house.home.contains(false), "the hall has not spoken")
        house.seconds(60, ["g1": silence, "g2": silence])
        #expect(house.home.last == false)
    }

    @Test func `A gateway that died while the tag left holds up nothing for longer than 25 seconds`() {
        var house = house()
        house.seconds(40, ["g2": silence])
        #expect(house.home.last == false)
    }

    // MARK: Stalls

    /// Lets the house hear for so many seconds a beacon that sends every `interval` seconds. The kitchen hears nine of ten packets,
    /// the hall none. A stall begins after 60 s, and later after each further 60 s.
    ///
    /// - Parameters:
    ///   - stall: Seconds for which the messages of the kitchen are lost.
    ///   - isHallHeard: Whether those of the hall arrive meanwhile.
    private func life(_ interval: Int, stalls: Int, of stall: Int, isHallHeard: Bool) -> House {
        var house = House(Self.rooms)
        var second = 0
        /// The level at the kitchen in the next second.
        func level() -> Float? {
            second += 1
            return second % interval == 0 && second / interval % 10 != 3 ? -50 : silence
        }
        for _ in 0..<120 { house.second(["g1": level(), "g2": silence]) }
        for number in 0..<stalls {
            // One second more each time, so that it meets the beacon anywhere.
            for _ in 0..<60 + number % 11 { house.second(["g1": level(), "g2": silence]) }
            for _ in 0..<stall {
                _ = level()
                house.second(isHallHeard ? ["g2": silence] : [:])
            }
        }
        for _ in 0..<60 { house.second(["g1": level(), "g2": silence]) }
        return house
    }

    @Test(arguments: [(1, 10), (1, 15), (1, 20), (2, 10), (2, 15), (2, 20), (4, 15)], [true, false])
    func `While messages of its gateway are lost, a tag is not silent`(_ life: (Int, Int), isHallHeard: Bool) {
        let house = self.life(life.0, stalls: 40, of: life.1, isHallHeard: isHallHeard)
        #expect(house.home == [true, true])
    }

    @Test(arguments: [1, 2, 3, 4]) func `After thirty seconds without any message no tag has left`(interval: Int) {
        let house = life(interval, stalls: 40, of: 30, isHallHeard: false)
        #expect(house.home == [true, true])
    }

    @Test(arguments: 11...18, [10, 11])
    func `When the broker is restarted, no tag leaves, also if the gateways used no numbers meanwhile`(
        _ seed: UInt64, seconds: Double
    ) {
        var house = House(Self.rooms)
        var bits = seed
        /// Of a beacon of one second the kitchen hears every second packet.
        func level() -> Float? {
            bits = bits &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return bits >> 63 == 1 ? -50 : silence
        }
        for _ in 0..<300 { house.second(["g1": level(), "g2": silence]) }
        house.pass(.connected(false))
        house.wait(until: house.now + seconds)
        house.pass(.connected(true))
        for _ in 0..<40 { house.second(["g1": level(), "g2": silence]) }
        #expect(house.home == [true, true])
    }

    @Test(arguments: [true, false]) func `A tag that leaves in a stall is away soon after it`(isHallHeard: Bool) {
        var house = house()
        house.seconds(15, isHallHeard ? ["g2": silence] : [:])
        house.seconds(1, ["g1": silence, "g2": silence])
        #expect(!house.home.contains(false), "one second of listening is too short")
        house.seconds(25, ["g1": silence, "g2": silence])
        #expect(house.home.last == false)
    }

    @Test func `A gateway with a stall every ten seconds lets a tag go all the same`() {
        var house = house()
        for _ in 0..<12 {
            house.seconds(5, ["g2": silence])
            house.seconds(5, ["g1": silence, "g2": silence])
        }
        #expect(house.home.last == false)
    }

    @Test func `A gateway whose new connection ends the old one, so that it is offline for a moment, loses no tag`() {
        var house = house()
        house.seconds(15, ["g2": silence])
        house.pass(.available(gateway: "g1", false))
        house.seconds(1, ["g2": silence])
        house.pass(.available(gateway: "g1", true))
        house.seconds(20, ["g1": -50, "g2": -75])
        #expect(!house.home.contains(false))
    }

    @Test func `A gateway that stood still for a while has not listened, although it has lost no message`() {
        var house = house()
        house.seconds(15, ["g2": silence])
        house.sequences["g1", default: 0] -= 15
        house.seconds(1, ["g1": silence, "g2": silence])
        house.seconds(5, ["g1": -50, "g2": -75])
        #expect(!house.home.contains(false))
    }

    @Test func `Another list of tags changes nothing in a departure`() {
        var house = house()
        house.seconds(15, [:])
        let jane = house.engine.tags
        let other = TagDescription(
            id: "bob", name: "Bob", pattern: BeaconPattern(uuid: House.beacon.uuid, major: 3, minor: 9))
        house.pass(.tags([other] + jane))
        #expect(house.engine.decided(ofTag: 1).isHome)
        house.seconds(60, ["g1": silence, "g2": silence])
        #expect(!house.engine.decided(ofTag: 1).isHome)
        #expect(house.home.last == false, "and it was reported")
    }
}
