import Base
import Configuration
import OwnTracks
import Regions
import Testing

@testable import Gateway

@Suite struct BoundTests {
    /// Regions, each of a beacon of its own. They are made once, because reading so many descriptions takes longer than a test.
    private static let many: [RegionChange] = (0..<Gateway.mostRegions + 10).map { number in
        let pattern = "\(GatewayHarness.uuid):\(number / 60_000 + 1):\(number % 60_000 + 1)"
        let description = try? RegionDescription(parsing: "R\(number):\(pattern)", base: .decimal)
        return description.map {
            .set(Region(rid: "r\(number)", description: $0, timestamp: 1), isRIDDerived: false)
        } ?? .remove(rid: "none")
    }

    private func regions(_ numbers: Range<Int>) -> [RegionChange] { Array(Self.many[numbers]) }

    @Test func `Regions that would be too many change nothing, are counted, and the reason is said`() throws {
        var harness = try GatewayHarness("waypoints: [\(GatewayHarness.waypoint("Hall", rid: "h"))]")
        harness.change(regions(0..<Gateway.mostRegions - 1))
        #expect(harness.gateway.trackers[0].regions.regions.count == Gateway.mostRegions)
        let before = harness.gateway.trackers[0].regions
        let reason = harness.gateway.reasonToRefuse(
            .changeRegions(tracker: 0, regions(Gateway.mostRegions..<Gateway.mostRegions + 10)))
        #expect(reason == "this would make 50010 regions; at most 50000 are allowed")
        #expect(harness.gateway.reasonToRefuse(.changeRegions(tracker: 0, regions(0..<10))) == nil)
        let logs = harness.change(regions(Gateway.mostRegions..<Gateway.mostRegions + 10))
        #expect(logs.contains { $0.contains("50010 regions; at most 50000 are allowed") })
        #expect(harness.gateway.trackers[0].regions == before)
        #expect(harness.gateway.counters.waypointsRefused == 10)
        harness.change([.remove(rid: "r1"), .remove(rid: "r2")])
        harness.change(regions(Gateway.mostRegions..<Gateway.mostRegions + 2))
        #expect(harness.gateway.trackers[0].regions.regions.count == Gateway.mostRegions)
    }

    @Test func `Edits and commands that would make too many regions are among the refusals that status shows`() throws {
        var harness = try GatewayHarness()
        harness.change(regions(0..<Gateway.mostRegions))
        harness.edit(regions(Gateway.mostRegions..<Gateway.mostRegions + 1))
        let reason = "this would make 50001 regions; at most 50000 are allowed"
        #expect(harness.gateway.refusals.refusals.map(\.text) == ["regions of the command line: \(reason)"])
        harness.setWaypoints(GatewayHarness.waypoint("Late", rid: "late"))
        #expect(harness.gateway.refusals.refusals.map(\.text).first == "setWaypoints: \(reason)")
        #expect(harness.gateway.trackers[0].regions.regions.count == Gateway.mostRegions)
    }

    @Test func `Regions of the configuration are bounded as those of commands`() throws {
        var harness = try GatewayHarness()
        harness.change(regions(0..<Gateway.mostRegions - 1))
        let two = "\(GatewayHarness.waypoint("A", rid: "a")),\(GatewayHarness.waypoint("B", rid: "b"))"
        let text = "{_type: \"configuration\", username: \"jane\", deviceId: \"hall\", waypoints: [\(two)]}"
        let configuration = try Configuration(parsing: text.utf8, hostName: "test")
        harness.handle(.configuration(configuration))
        #expect(harness.gateway.trackers[0].regions.regions.count == Gateway.mostRegions - 1)
        #expect(harness.gateway.counters.waypointsRefused == 2)
        #expect(harness.log.contains { $0.contains("50001 regions; at most 50000 are allowed") })
        harness.change([.remove(rid: "r1")])
        harness.handle(.configuration(configuration))
        #expect(harness.gateway.trackers[0].regions.regions.count == Gateway.mostRegions)
    }

    @Test func `A retained command that found no room is applied when there is room`() throws {
        var harness = try GatewayHarness()
        harness.change(regions(0..<Gateway.mostRegions))
        let late = GatewayHarness.waypoint("Late", rid: "late")
        harness.setWaypoints(late, isRetained: true)
        #expect(harness.gateway.trackers[0].regions[rid: "late"] == nil)
        harness.change([.remove(rid: "r1")])
        harness.wait(60)
        harness.setWaypoints(late, isRetained: true)
        harness.wait(60)
        #expect(harness.gateway.trackers[0].regions[rid: "late"] != nil)
    }

    @Test func `Beacons that are invented under a wildcard region fill a table and no more`() throws {
        var harness = try GatewayHarness(
            "waypoints: [\(GatewayHarness.waypoint("Any", rid: "a", suffix: ""))], leaveAfter: 60")
        for number in 0..<16_384 { try harness.hear(major: 1, minor: UInt16(number)) }
        #expect(harness.gateway.droppedSightings == 0)
        #expect(harness.gateway.crowdedRegion(at: harness.now) == nil)
        for number in 20_000..<20_100 { try harness.hear(major: 1, minor: UInt16(number)) }
        #expect(harness.gateway.droppedSightings == 100)
        let text = "too many beacons belong to region Any of owntracks/jane/hall: more are dropped"
        let lines = harness.effects.filter { if case .log(let entry) = $0 { entry.text == text } else { false } }
        #expect(lines.count == 1, "not one line for each")
        let crowded = harness.gateway.crowdedRegion(at: harness.now)
        #expect(crowded?.description == text)
        #expect(harness.gateway.crowdedRegion(at: harness.now.advanced(by: .seconds(600))) == nil)
        let bytes = harness.gateway.keptPresence(at: harness.now).bytes.count
        #expect(bytes < 4 << 20, "\(bytes) bytes in each write")
        harness.wait(61)
        #expect(try harness.drainEvents() == ["enter Any", "leave Any"])
        // No beacon is inside, so the models of the unknown beacons are dropped.
        #expect(harness.gateway.keptPresence(at: harness.now).bytes.count < 100_000)
    }
}
