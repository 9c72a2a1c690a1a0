import SiteProtocol
import Testing

@testable import Rooms

/// What the rooms service takes from a gateway that says nothing.
@Suite struct SilenceTests {
    private var house = House([("k", "Kitchen"), ("h", "Hall"), ("o", "Office")])
    private static let kitchen: [String: Float?] = ["k": -58, "h": -72, "o": -80]
    private static let hall: [String: Float?] = ["k": -74, "h": -56, "o": -72]

    private func without(_ gateway: String, _ levels: [String: Float?]) -> [String: Float?] {
        levels.filter { $0.key != gateway }
    }

    @Test(arguments: [1, 2, 5])
    mutating func `A tag that is carried away while its room's gateway is gone is reported where it is`(
        _ interval: Int
    ) throws {
        house.lie(for: 600, every: interval, Self.kitchen)
        house.lie(for: 3, without("k", Self.kitchen))
        let seconds = house.delay(until: "Hall", every: interval, without("k", Self.hall))
        // The level of the gateway that is gone fades for two minutes.
        #expect(try #require(seconds) <= 30 + 5 * interval, "\(String(describing: seconds))")
    }

    @Test mutating func `A tag that lies in a room whose gateway fails stays there`() {
        house.lie(for: 600, Self.kitchen)
        house.lie(for: 1800, without("k", Self.kitchen))
        #expect(house.reported == [nil, "Kitchen"])
    }

    @Test mutating func `While a computer restarts a tag that moves within its room stays there`() {
        house.lie(for: 600, ["k": -54, "h": -66, "o": -74])
        // Nearer to the hall, whose gateway hears it better than an average one of the kitchen would.
        house.lie(for: 50, ["h": -61, "o": -82])
        house.lie(for: 60, ["k": -58, "h": -62, "o": -82])
        #expect(house.reported == [nil, "Kitchen"])
    }

    @Test mutating func `Where one of two gateways of a room fails, a tag that is carried away leaves the room`() throws
    {
        house = House([("k", "Kitchen"), ("k2", "Kitchen"), ("h", "Hall"), ("o", "Office")])
        house.lie(for: 600, ["k": -58, "k2": -62, "h": -72, "o": -80])
        let seconds = house.delay(until: "Hall", ["k2": -77, "h": -56, "o": -72])
        #expect(try #require(seconds) <= 20, "\(String(describing: seconds))")
    }

    @Test(arguments: [true, false])
    mutating func `Whether a room keeps its tag does not depend on the last message of its gateway`(hasReading: Bool) {
        let levels: [String: Float?] = ["k": -60, "h": -68, "o": -80]
        house.lie(for: 60, every: 2, levels)
        house.place(levels)
        if !hasReading { house.place(levels, hasPacket: false) }
        house.lie(for: 60, every: 2, without("k", levels))
        house.lie(for: 60, every: 2, levels)
        #expect(house.reported == [nil, "Kitchen"])
    }

    @Test mutating func `A gateway whose messages are lost for seconds holds no tag that left its room`() throws {
        house.lie(for: 120, Self.hall)
        let kitchen: [String: Float?] = ["k": -60, "h": -78, "o": -80]
        for second in 0..<20 where house.reported.last != "Kitchen" {
            house.place(second % 13 < 3 ? kitchen : without("h", kitchen))
        }
        #expect(house.reported == [nil, "Hall", "Kitchen"])
    }

    @Test mutating func `A gateway near which nothing else sends holds a tag no longer than until it moves`() throws {
        house.lie(for: 300, ["k": -56, "h": nil, "o": nil])
        var seconds = 0
        while seconds < 60, house.reported.last != "Hall" {
            for gateway in ["h", "o"] { house.send(from: gateway, level: gateway == "h" ? -58 : nil) }
            house.send(from: "k", level: nil, reports: 0)
            house.wait(until: house.now + 1)
            seconds += 1
        }
        #expect(seconds <= 12, "\(seconds)")
    }
}
