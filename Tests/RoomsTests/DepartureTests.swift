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
