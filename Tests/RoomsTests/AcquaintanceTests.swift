import Base
import RoomsSupport
import SiteProtocol
import Testing

@testable import Rooms

/// From when on a gateway counts.
@Suite struct AcquaintanceTests {
    @Test(
        arguments: [
            ("a", [0], [false]), ("a", [0, 1, 2], [false, false, true]), ("a", [0, 0.1, 0.2], [false, false, false]),
            ("a", [0, 3], [false, false]), ("a", [0, 0.1, 0.2, 2], [false, false, false, true]),
            ("", [0, 5, 9.9], [false, false, false]), ("", [0, 5, 10], [false, false, true]),
        ] as [(String, [Double], [Bool])])
    func `A gateway counts from its third message on, after two seconds; a node, after ten`(
        _ startID: String, _ times: [Double], _ counts: [Bool]
    ) {
        var acquaintance = Acquaintance.unknown
        #expect(times.map { acquaintance.record(startID: startID, at: .zero.advanced(by: .seconds($0))) } == counts)
    }

    @Test func `Messages of several starts do not add up, and a gateway that is known may start anew`() {
        var acquaintance = Acquaintance.unknown
        let verdicts = ["a", "b", "a", "b", "b", "b", "c"].enumerated().map { index, startID in
            acquaintance.record(startID: startID, at: .zero.advanced(by: .seconds(index)))
        }
        #expect(verdicts == [false, false, false, false, false, true, true])
    }

    /// A tag in the kitchen, and a gateway of which nothing was heard before.
    private func house() -> House {
        var house = House([("k", "Kitchen")])
        house.seconds(20, ["k": -70])
        house.pass(.card(gateway: "x", room: "Vault"))
        return house
    }

    @Test(arguments: [1, 2])
    func `A message or two of an invented gateway move no tag`(_ count: Int) {
        var house = house()
        for _ in 0..<count { house.send(from: "x", level: -40) }
        house.seconds(60, ["k": -70])
        #expect(house.reported == [nil, "Kitchen"])
    }

    @Test func `An invented gateway brings no tag home`() {
        var house = house()
        house.seconds(120, ["k": nil])
        #expect(house.home.last == false)
        house.send(from: "x", level: -40)
        #expect(house.home.last == false)
    }

    @Test func `A gateway that was added counts after two seconds, though it heard no tag in them`() {
        var house = House([("k", "Kitchen")])
        house.seconds(20, ["k": -70])
        house.pass(.card(gateway: "x", room: "Vault"))
        for _ in 0..<3 {
            house.second(["k": -70])
            house.send(from: "x", level: nil)
        }
        for _ in 0..<8 {
            house.second(["k": -80])
            house.send(from: "x", level: -50)
        }
        #expect(house.reported == [nil, "Kitchen", "Vault"])
    }

    @Test func `Two new gateways of one name are found, though none of them counts`() {
        var house = House([("k", "Kitchen")], areKnown: false)
        for startID in ["a", "b", "a", "b", "a", "b"] {
            house.wait(until: house.now + 1)
            house.send(from: "k", level: -50, startID: startID)
        }
        #expect(house.findings == [.shared(gateway: "k")])
        #expect(house.home.isEmpty)
    }

    @Test func `Which gateways count is kept with what was learned, and others come back with their cards`() {
        var house = house()
        house.send(from: "x", level: -40)
        #expect(house.engine.plan.learned.gateways.map(\.isKnown) == [true, false])
        var other = RoomEngine()
        other.restore(house.engine.plan.learned)
        #expect(other.plan.learned.gateways.map(\.name) == ["k"])
        #expect(other.plan.learned.gateways.map(\.isKnown) == [true])
    }
}
