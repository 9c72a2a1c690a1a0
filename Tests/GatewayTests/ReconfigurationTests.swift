import Base
import Configuration
import Gateway
import OwnTracks
import Regions
import Testing

/// Another configuration while people are inside.
@Suite("Reconfiguration")
struct ReconfigurationTests {
    private static let trackers = [
        "{deviceId: \"keys\", tid: \"K1\", waypoints: [\(GatewayHarness.waypoint("keys", rid: "k", suffix: ":1"))]}",
        "{deviceId: \"bag\", tid: \"B1\", waypoints: [\(GatewayHarness.waypoint("bag", rid: "k", suffix: ":2"))]}",
    ]

    private static func settings(_ trackers: [String], more: String = "") -> String {
        "trackers: [\(trackers.joined(separator: ","))], \(more)"
    }

    private static func configuration(_ members: String) throws -> Configuration {
        let text = "{_type: \"configuration\", username: \"jane\", deviceId: \"hall\", leaveAfter: 60, \(members)}"
        return try Configuration(parsing: Array(text.utf8), hostName: "test")
    }

    @Test("a tracker that moves up in the list keeps its regions and who is inside", arguments: [[1], [1, 0]])
    func reordered(order: [Int]) throws {
        var house = try GatewayHarness(Self.settings(Self.trackers))
        try house.hear(major: 1)
        try house.hear(major: 2)
        #expect(try house.drainEvents() == ["enter keys", "enter bag"])
        house.handle(.configuration(try Self.configuration(Self.settings(order.map { Self.trackers[$0] }))))
        #expect(try house.drainEvents().isEmpty)
        #expect(house.gateway.trackers[1].regions.regions.map(\.displayName) == ["bag"])
        try house.hear(major: 2)
        #expect(try house.drainEvents().isEmpty)
        house.wait(120)
        let told = house.drainTexts().filter { $0.contains("leave") }
        #expect(told.count == order.count)
        #expect(told.contains { $0.hasPrefix("owntracks/jane/bag/event") && $0.contains(#""tid":"B1""#) })
    }

    @Test("what was retained of a tracker that is no more, or has another device, is emptied")
    func abandoned() throws {
        var house = try GatewayHarness(Self.settings(Self.trackers))
        _ = house.drainMessages()
        let renamed = Self.trackers[0].split(separator: "keys", maxSplits: 1).joined(separator: "pocket")
        house.handle(.configuration(try Self.configuration(Self.settings([renamed]))))
        let emptied = house.drainMessages().filter { $0.payload.isEmpty }
        #expect(emptied.allSatisfy { $0.isRetained && $0.kind == .state })
        #expect(
            Set(emptied.map(\.topic)) == ["ibeacon-gateway/keys/region/k", "ibeacon-gateway/bag/region/k"])
        #expect(house.gateway.trackers[1].regions.regions.map(\.rid) == ["k"])
    }

    @Test("a monitoring mode that a region switched to stays, unless the settings name another")
    func monitoring() throws {
        var house = try GatewayHarness()
        house.setWaypoints(GatewayHarness.waypoint("Home|2|0", rid: "h"))
        try house.hear()
        #expect(house.gateway.trackers[0].monitoring == .move)
        house.handle(.configuration(try Self.configuration("tag: \"x\"")))
        #expect(house.gateway.trackers[0].monitoring == .move)
        house.handle(.configuration(try Self.configuration("monitoring: -1")))
        #expect(house.gateway.trackers[0].monitoring == .quiet)
    }

    @Test(
        "a stored monitoring mode outlives a restart, and not another setting",
        arguments: [("1", 2, "2 1"), ("-1", -1, "-1 -1")])
    func monitoringAtStart(setting: String, mode: Int, stored: String) throws {
        var house = try GatewayHarness("monitoring: \(setting)")
        let kept = try #require(KeptMonitoring(bytes: Array("2 1".utf8)))
        house.handle(
            .start(
                StoredState(configuration: house.gateway.configuration, regions: [RegionSet()], monitoring: [kept])))
        #expect(house.gateway.trackers[0].monitoring.rawValue == mode)
        house.setWaypoints(GatewayHarness.waypoint("Home|\(mode == 2 ? 0 : 2)|0", rid: "h"))
        try house.hear()
        house.wait(120)
        house.handle(.stateLost)
        let values = house.effects.compactMap { effect in
            if case .monitoring("owntracks/jane/hall", let kept) = effect {
                String(decoding: kept.bytes, as: UTF8.self)
            } else {
                nil
            }
        }
        #expect(values.last == "0 \(setting)")
        #expect(values.contains(stored) == (mode == -1))
    }

    @Test("a mode that was stored without its setting is in force")
    func monitoringOfOldVersion() throws {
        let kept = try #require(KeptMonitoring(bytes: Array("-1".utf8)))
        #expect(kept.mode(for: .significant) == .quiet)
        #expect(KeptMonitoring(bytes: Array("1 2 1".utf8)) == nil)
        #expect(KeptMonitoring(bytes: Array("9".utf8)) == nil)
    }

    @Test("regions that are still being told of when their tracker goes are told of no more")
    func goneWhileTold() throws {
        var house = try GatewayHarness(Self.settings(Self.trackers))
        let many = (0..<600).map { GatewayHarness.waypoint("r\($0)", rid: "\($0)", suffix: ":9:\($0 + 1)") }
        house.command(
            #"{"_type":"cmd","action":"setWaypoints","waypoints":[\#(many.joined(separator: ","))]}"#, tracker: 2)
        house.command(#"{"_type":"cmd","action":"clearWaypoints"}"#, tracker: 2)
        house.handle(.configuration(try Self.configuration("")))
        house.wait(1)
        // What withdraws the states of the removed tracker is a message of the first.
        let base = house.gateway.trackers[0].topics.base
        #expect(house.drainMessages().allSatisfy { $0.owner == base || !$0.payload.isEmpty })
        #expect(house.gateway.nextDeadline == nil)
    }
}
