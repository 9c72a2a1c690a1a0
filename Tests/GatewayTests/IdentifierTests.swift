import Base
import Configuration
import JSON
import OwnTracks
import Regions
import Testing

@testable import Gateway

/// Identifiers that look the same and differ in their bytes: "é" as one code point (NFC) or as two (NFD).
@Suite struct IdentifierTests {
    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"

    private static func states(_ messages: [Publication]) -> [(topic: String, isEmpty: Bool)] {
        messages.filter { $0.kind == .state }.map { ($0.topic, $0.payload.isEmpty) }
    }

    @Test func `Regions whose rids differ in bytes alone are two, each with its own state`() throws {
        var house = try GatewayHarness()
        house.setWaypoints(GatewayHarness.waypoint("one", rid: Self.composed))
        house.setWaypoints(GatewayHarness.waypoint("two", rid: Self.decomposed))
        #expect(house.gateway.trackers[0].regions.regions.map(\.displayName) == ["one", "two"])
        _ = house.drainMessages()
        house.setWaypoints(GatewayHarness.waypoint("x", rid: Self.composed, more: #","lat":100,"lon":500"#))
        let emptied = Self.states(house.drainMessages()).filter(\.isEmpty)
        #expect(emptied.count == 1)
        let topic = try #require(emptied.first?.topic)
        #expect(topic.hasSameBytes(as: DeviceTopics.region(device: "hall", rid: Self.composed)))
        #expect(house.gateway.trackers[0].regions.regions.map(\.displayName) == ["two"])
    }

    @Test func `Each of them is entered and left by itself, also across a restart`() throws {
        var house = try GatewayHarness()
        house.setWaypoints(GatewayHarness.waypoint("one", rid: Self.composed, suffix: ":1:7"))
        house.setWaypoints(GatewayHarness.waypoint("two", rid: Self.decomposed, suffix: ":1:8"))
        try house.hear(minor: 7)
        #expect(try house.drainEvents() == ["enter one"])
        try house.restart(after: 1)
        _ = house.drainMessages()
        try house.hear(minor: 8)
        #expect(try house.drainEvents() == ["enter two"])
        house.wait(30)
        try house.hear(minor: 8)
        house.wait(45)
        #expect(try house.drainEvents() == ["leave one"])
    }

    @Test func `A name that changes in bytes alone is a change, and its state is told`() throws {
        var house = try GatewayHarness()
        house.setWaypoints(GatewayHarness.waypoint(Self.composed, rid: "k"))
        _ = house.drainMessages()
        house.setWaypoints(GatewayHarness.waypoint(Self.decomposed, rid: "k"))
        let state = try #require(house.drainMessages().last { $0.kind == .state })
        #expect(try JSONValue(parsing: state.payload)["desc"]?.string?.hasSameBytes(as: Self.decomposed) == true)
    }

    @Test func `A device that is renamed in bytes alone leaves no state behind`() throws {
        var house = try GatewayHarness("deviceId: \"\(Self.composed)\"")
        house.setWaypoints(GatewayHarness.waypoint("Kitchen", rid: "k"))
        _ = house.drainMessages()
        let text = "{_type: \"configuration\", username: \"jane\", deviceId: \"\(Self.decomposed)\", leaveAfter: 60}"
        house.handle(.configuration(try Configuration(parsing: Array(text.utf8), hostName: "test")))
        let states = Self.states(house.drainMessages())
        #expect(
            states.contains {
                $0.isEmpty && $0.topic.hasSameBytes(as: DeviceTopics.region(device: Self.composed, rid: "k"))
            })
        #expect(
            states.contains {
                !$0.isEmpty && $0.topic.hasSameBytes(as: DeviceTopics.region(device: Self.decomposed, rid: "k"))
            })
    }

    @Test func `Secrets that differ in bytes alone differ`() {
        #expect(Secret(Self.composed) != Secret(Self.decomposed))
    }

    @Test func `Topics that differ in bytes alone are two trackers'`() throws {
        let text = """
            {_type: "configuration", username: "jane", deviceId: "\(Self.composed)",
             trackers: [{deviceId: "\(Self.decomposed)", tid: "k2"}]}
            """
        #expect(try Configuration(parsing: Array(text.utf8), hostName: "test").trackers.count == 2)
    }
}
