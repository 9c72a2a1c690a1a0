import Base
import Gateway
import Testing

/// A broker that lost its database has nothing of what it retained.
@Suite struct LostRetainedTests {
    private static let places = "lat: 50, lon: 8, trackers: [{deviceId: \"anna\"}]"

    private func locations(_ house: inout GatewayHarness) -> [String] {
        house.drainMessages().filter { $0.isRetained && $0.topic.hasPrefix("owntracks/") }.map(\.topic)
    }

    @Test func `With a new session all locations are published again, and with the old one none`() throws {
        var house = try GatewayHarness(Self.places)
        house.handle(.brokerConnected(isNew: true))
        #expect(locations(&house).isEmpty, "the start is no loss")
        house.handle(.brokerConnected(isNew: true))
        #expect(locations(&house) == ["owntracks/jane/hall", "owntracks/jane/anna"])
        house.handle(.brokerConnected(isNew: false))
        house.handle(.homeAssistantStarted)
        #expect(locations(&house).isEmpty)
    }

    @Test func `After a restart with a new session, too, but not with the old one or a clean one`() throws {
        for (members, isNew, expected) in [
            (Self.places, true, ["owntracks/jane/hall", "owntracks/jane/anna"]), (Self.places, false, []),
            ("cleanSession: true, \(Self.places)", true, []),
        ] {
            var house = try GatewayHarness(members)
            house.handle(.brokerConnected(isNew: true))
            try house.restart(members, after: 100)
            // The broker takes its time. Soon after the start no location would come with a clean session anyway.
            house.wait(61)
            _ = house.drainMessages()
            house.handle(.brokerConnected(isNew: isNew))
            #expect(locations(&house) == expected, "\(members), new: \(isNew)")
        }
    }

    @Test(arguments: ["pubRetain: false, \(places)", "monitoring: -1, \(places)", ""])
    func `Where no location is retained or published, none is`(members: String) throws {
        var house = try GatewayHarness(members)
        house.handle(.brokerConnected(isNew: true))
        house.handle(.brokerConnected(isNew: true))
        #expect(house.drainMessages().allSatisfy { !$0.topic.hasPrefix("owntracks/") })
    }

    @Test func `With a clean session, which is new each time, locations come once a minute at most`() throws {
        var house = try GatewayHarness("cleanSession: true, \(Self.places)")
        house.handle(.brokerConnected(isNew: true))
        house.wait(61)
        _ = house.drainMessages()
        house.handle(.brokerConnected(isNew: true))
        #expect(locations(&house).count == 2)
        house.handle(.brokerConnected(isNew: true))
        #expect(locations(&house).isEmpty)
    }
}
