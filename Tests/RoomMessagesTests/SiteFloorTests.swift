import Base
import RoomMessages
import Rooms
import RoomsSupport
import SiteProtocol
import Testing

@testable import SiteCore

/// What the configuration and the cards of gateways say of floors, and what becomes of it.
@Suite struct SiteFloorTests {
    private func instant(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(seconds * 1e9)) }

    /// A site whose gateways have these cards and send for some seconds; only those that `speak` count.
    private func site(
        _ floors: [RoomName: RoomFloor] = [:], _ cards: [(gateway: String, room: String, floor: Int?)],
        speak: Set<String>? = nil
    ) -> Site {
        var settings = SiteSettings()
        settings.floors = floors
        settings.tags = [SiteFleet.change("Jane:7")]
        var harness = SiteHarness(settings)
        harness.start(at: .zero)
        for card in cards {
            let message = GatewayCard(room: .named(card.room), floor: card.floor, version: "1")
            _ = harness.pass(.card(gateway: card.gateway, message), seconds: 1)
        }
        for second in 2...8 {
            for card in cards where speak?.contains(card.gateway) ?? true {
                let heard = HeardSecond(
                    startID: "b", sequence: Int64(second), at: .seconds(second), listening: .seconds(1), reports: 4,
                    readings: [])
                _ = harness.pass(.heard(gateway: card.gateway, heard), seconds: Double(second))
            }
        }
        _ = harness.pass(.card(gateway: "last", GatewayCard()), seconds: 12)
        return harness.core
    }

    private func floor(of room: String, in site: Site) -> Int? { site.roster.state(of: .named(room)).floor }

    private func problems(_ site: Site) -> [(text: String, remedy: String)] {
        site.whereabouts.gateways.floors.problems(among: site.engine.knownRooms, connected: instant(0), at: instant(20))
    }

    @Test func `A room is on the floor that the configuration says, or else on that of its gateway's card`() {
        let site = site(
            [.named("living room"): RoomFloor(floor: 2)],
            [("k", "Kitchen", 0), ("l", "Living Room", nil), ("b", "Bedroom", nil)])
        #expect(floor(of: "Kitchen", in: site) == 0)
        #expect(floor(of: "Living Room", in: site) == 2)
        #expect(floor(of: "Bedroom", in: site) == nil)
        #expect(problems(site).isEmpty)
    }

    @Test func `The card of a gateway that does not count says nothing of a floor`() {
        let site = site([:], [("k", "Kitchen", 0), ("x", "Bedroom", 1)], speak: ["k"])
        #expect(floor(of: "Kitchen", in: site) == 0 && floor(of: "Bedroom", in: site) == nil)
    }

    @Test
    func `A floor that is said twice with different numbers is told by name, and that of the cards is not believed`() {
        let site = site(
            [.named("Hall"): RoomFloor(floor: 1)],
            [("k1", "Kitchen", 0), ("k2", "Kitchen", 1), ("h", "Hall", 0)])
        #expect(floor(of: "Kitchen", in: site) == nil && floor(of: "Hall", in: site) == 1)
        #expect(
            problems(site).map(\.text) == [
                "the room Hall has two floors: the configuration says 1, h says 0",
                "the room Kitchen has two floors: k1 says 0, k2 says 1",
            ])
    }

    @Test func `Of many problems the first are told, and how many there are besides`() {
        let floors = (10..<33).map { (RoomName.named("Room \($0)"), RoomFloor(floor: 1)) }
        let told = problems(site(Dictionary(uniqueKeysWithValues: floors), [("k", "Kitchen", 0)])).map(\.text)
        #expect(told.count == 21)
        #expect(told.dropLast().last == "the configuration says where Room 29 is, and there is no such room")
        #expect(told.last == "3 more problems of floors are not listed")
    }

    @Test func `Stairs and floors of rooms that do not exist are told by name`() {
        let site = site(
            [.named("Landing"): RoomFloor(isStairs: true), .named("Atic"): RoomFloor(floor: 2)], [("k", "Kitchen", 0)])
        #expect(
            problems(site).map(\.text) == [
                "the configuration says where Atic is, and there is no such room",
                "the configuration says where Landing is, and there is no such room",
            ])
    }

    @Test func `However many invented gateways say a floor, no more are kept than there are cards`() {
        var table = GatewayTable(SiteSettings())
        for number in 0..<table.most + 100 {
            let card = GatewayCard(room: .named("Attic"), floor: 3)
            _ = table.record(card, of: "g\(number)", in: RoomEngine(), at: .zero)
        }
        #expect(table.most == 4000 && table.cards.count == table.most && table.floors.cardCount == table.most)
    }

    @Test func `Where nothing is said of floors nothing is due for them`() {
        let site = site([:], [("k", "Kitchen", nil)])
        #expect(site.whereabouts.gateways.floors.due == nil && site.whereabouts.gateways.floors.isEmpty)
        #expect(
            String(decoding: site.roster.state(of: .named("Kitchen")).payload, as: UTF8.self)
                == #"{"count":0,"name":"Kitchen","tags":[]}"#)
    }
}
