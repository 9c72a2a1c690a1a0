import Base
import Beacon
import JSON
import OwnTracks
import Regions
import Status
import Testing

@testable import Gateway

/// One list of regions can make a beacon belong to 50,000 of them. What is shown of it does not cost that.
@Suite struct WildcardTests {
    /// More than any answer lists, which is what is checked here. What 49,500 cost is measured by `Benchmarks/Parts`.
    private static let count = 2_500

    private func harness() throws -> GatewayHarness {
        var harness = try GatewayHarness()
        harness.change(
            try (0..<Self.count).map { number in
                let description = try RegionDescription(parsing: "R\(number):\(GatewayHarness.uuid)", base: .decimal)
                return .set(Region(rid: "r\(number)", description: description, timestamp: 1), isRIDDerived: false)
            })
        harness.wait(10)
        try harness.hear()
        harness.wait(5)
        _ = harness.drainMessages()
        return harness
    }

    private func beacon() throws -> BeaconID {
        BeaconID(uuid: try #require(BeaconUUID(GatewayHarness.uuid)), major: 1, minor: 7)
    }

    private func state(at now: MonotonicInstant) throws -> StatusSnapshot.BeaconState {
        StatusSnapshot.BeaconState(
            id: try beacon(), measuredPower: MeasuredPower(dBm: -59), rssi: RSSI(reported: -60), lastHeard: now)
    }

    @Test func `What was heard is remembered once for each pattern, and not for each region`() throws {
        var harness = try harness()
        harness.change([
            .set(
                Region(
                    rid: "one",
                    description: try RegionDescription(parsing: "One:\(GatewayHarness.uuid):1:7", base: .decimal),
                    timestamp: 1), isRIDDerived: false)
        ])
        let heard = GatewayInsight(of: harness.gateway).hearings(of: [try state(at: harness.now)], at: harness.now)
        let uuid = try beacon().uuid
        #expect(Set(heard.keys) == [BeaconPattern(uuid: uuid), BeaconPattern(uuid: uuid, major: 1, minor: 7)])
        let tracker = try #require(
            GatewayInsight(of: harness.gateway).trackerStates(hearings: heard, at: harness.now).first)
        #expect(tracker.regions.allSatisfy { $0.lastHeard == harness.now && $0.isInside })
    }

    @Test func `A snapshot lists the first regions and some occupied ones, and counts all`() throws {
        let harness = try harness()
        let tracker = try #require(
            GatewayInsight(of: harness.gateway).trackerStates(hearings: [:], at: harness.now).first)
        #expect(tracker.regionCount == Self.count)
        #expect(tracker.regions.count <= 2 * StatusSnapshot.listedRegions)
        #expect(tracker.regions.prefix(3).map(\.rid) == ["r0", "r1", "r2"])
        #expect(tracker.regions.allSatisfy { !$0.explanation.isEmpty && $0.leaveDeadline != nil })
    }

    @Test func `An occupied region at the end of a long list is shown`() throws {
        var harness = try GatewayHarness()
        harness.change(try CrowdTests.regions(3_000))
        harness.wait(10)
        try harness.hear(minor: 2_900)
        let tracker = try #require(
            GatewayInsight(of: harness.gateway).trackerStates(hearings: [:], at: harness.now).first)
        #expect(tracker.regions.count == StatusSnapshot.listedRegions + 1)
        #expect(tracker.regions.filter(\.isInside).map(\.rid) == ["r2899"])
        #expect(tracker.regionCount == 3_000)
    }

    @Test func `The regions of a beacon are named up to a limit, and counted`() throws {
        let harness = try harness()
        #expect(harness.gateway.regionNames(of: try beacon()).count == Gateway.mostNamedRegions)
        #expect(harness.gateway.regionCount(of: try beacon()) == Self.count)
        let stranger = BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: 1)
        #expect(harness.gateway.regionNames(of: stranger).isEmpty && harness.gateway.regionCount(of: stranger) == 0)
    }

    @Test func `The battery of a beacon in very many regions is logged with some of their names`() throws {
        var harness = try harness()
        let battery = try #require(BatteryReading(level: 3))
        harness.handle(.telemetry(BeaconTelemetry(beacon: try beacon(), battery: battery)))
        let line = try #require(harness.log.first { $0.contains("battery") })
        #expect(line.utf8.count < 400)
    }

    @Test func `Of very many regions of one name some are explained, and all are counted`() throws {
        var harness = try GatewayHarness()
        harness.change(
            try (0..<Self.count).map { number in
                let description = try RegionDescription(parsing: "Same:\(GatewayHarness.uuid)", base: .decimal)
                return .set(Region(rid: "r\(number)", description: description, timestamp: 1), isRIDDerived: false)
            })
        harness.wait(10)
        try harness.hear()
        let explained = GatewayInsight(of: harness.gateway).explanation(ofRegion: "Same", at: harness.now)
        #expect(explained.count == GatewayInsight.mostExplained)
        #expect(explained.allSatisfy { $0.regionCount == Self.count })
        #expect(explained.allSatisfy { $0.beacons.count == 1 })
    }

    @Test func `The answer to status lists the first regions, and counts all`() throws {
        var harness = try harness()
        harness.command(#"{"_type":"cmd","action":"status"}"#)
        harness.wait(5)
        let answer = try #require(harness.drainMessages().first { $0.topic.hasSuffix("/status") })
        let json = try JSONValue(parsing: answer.payload)["gateway"]
        #expect(json?["regions"]?.array?.count == 1_000)
        #expect(json?["regionCount"]?.asInteger == Int64(Self.count))
    }
}
