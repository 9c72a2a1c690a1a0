import Base
import JSON
import Regions
import Testing

@testable import Gateway
@testable import OwnTracks

/// Many commands at one time: what they cost, and which are answered.
@Suite struct CommandBurstTests {
    private func harness(regions: Int) throws -> GatewayHarness {
        var harness = try GatewayHarness()
        harness.change(
            try (0..<regions).map { number in
                let text = "R\(number):\(GatewayHarness.uuid):\(number / 60_000 + 1):\(number % 60_000)"
                let description = try RegionDescription(parsing: text, base: .decimal)
                return .set(Region(rid: "r\(number)", description: description, timestamp: 1), isRIDDerived: false)
            })
        harness.wait(10)
        _ = harness.drainMessages()
        return harness
    }

    private func answers(_ messages: [Publication], on suffix: String) -> Int {
        messages.count { $0.topic.hasSuffix(suffix) }
    }

    private static let waypoints = #"{"_type":"cmd","action":"waypoints"}"#
    private static let status = #"{"_type":"cmd","action":"status"}"#

    @Test func `Equal queries that wait are answered once, and counted`() throws {
        var harness = try harness(regions: 10_000)
        for _ in 0..<256 { harness.command(Self.waypoints) }
        let first = answers(harness.drainMessages(), on: "/waypoints")
        harness.wait(60)
        let second = answers(harness.drainMessages(), on: "/waypoints")
        #expect((first, second) == (1, 1))
        #expect(harness.gateway.counters.commands.done == 256)
    }

    @Test func `However slow the machine, commands that come in one turn of the loop are carried out in others`() throws
    {
        var harness = try harness(regions: 10_000)
        for number in 0..<20 {
            harness.pass(.seconds(1))
            harness.command(number.isMultiple(of: 2) ? Self.waypoints : Self.status, ticks: false)
        }
        #expect(harness.drainMessages().isEmpty)
        harness.handle(.tick)
        #expect(harness.drainMessages().count == 1)
        harness.pass(.seconds(1))
        harness.handle(.tick)
        #expect(harness.drainMessages().count == 1)
    }

    @Test func `An answer that is asked for after a change shows the change`() throws {
        var harness = try harness(regions: 10_000)
        harness.command(Self.waypoints)
        harness.command(Self.waypoints)
        harness.setWaypoints(GatewayHarness.waypoint("New", rid: "new", suffix: ":9:9"))
        harness.command(Self.waypoints)
        harness.command(Self.waypoints)
        harness.wait(60)
        let lists = harness.drainMessages().filter { $0.topic.hasSuffix("/waypoints") }
        #expect(lists.map { String(decoding: $0.payload, as: UTF8.self).contains("New:") } == [false, false, true])
    }

    @Test func `Large commands run one in a turn, small ones together`() throws {
        var harness = try harness(regions: 10_000)
        for number in 0..<50 {
            harness.setWaypoints(GatewayHarness.waypoint("New \(number)", rid: "n\(number)", suffix: ":9:\(number)"))
        }
        #expect(harness.gateway.trackers[0].regions.regions.count == 10_001)
        harness.wait(1)
        #expect((10_005...10_040).contains(harness.gateway.trackers[0].regions.regions.count))
        harness.wait(10)
        #expect(harness.gateway.trackers[0].regions.regions.count == 10_050)
        var small = try GatewayHarness()
        for number in 0..<50 {
            small.setWaypoints(GatewayHarness.waypoint("New \(number)", rid: "n\(number)", suffix: ":9:\(number)"))
        }
        #expect(small.gateway.trackers[0].regions.regions.count == 50)
    }

    @Test func `What waits is bounded: commands beyond it are refused, counted, and the reason is logged`() throws {
        // No more regions than it takes for a command to make the next one wait: this test carries out 257 of them.
        var harness = try harness(regions: 6_000)
        for number in 0..<300 {
            harness.setWaypoints(GatewayHarness.waypoint("New \(number)", rid: "n\(number)", suffix: ":9:\(number)"))
        }
        #expect(harness.gateway.counters.commands.refused == 300 - 1 - UInt64(CommandQueue.mostWaiting))
        let logs = harness.effects.compactMap { if case .log(let entry) = $0 { entry.text } else { nil } }
        #expect(logs.contains { $0.contains("too many commands are waiting") })
        harness.wait(60)
        #expect(harness.gateway.trackers[0].regions.regions.count == 6_000 + 1 + CommandQueue.mostWaiting)
    }

    @Test func `Regions that waiting commands bring are bounded too`() throws {
        var harness = try harness(regions: 10_000)
        let many = (0..<20_000).map { GatewayHarness.waypoint("R", rid: "m\($0)", suffix: ":8:\($0)") }
            .joined(separator: ",")
        for _ in 0..<5 { harness.setWaypoints(many) }
        // The first runs at once, two wait.
        #expect(harness.gateway.counters.commands.refused == 2)
    }

    @Test func `A setConfiguration counts when it is known what became of it`() throws {
        var harness = try GatewayHarness("cmd: true, remoteConfiguration: true")
        harness.command(
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration","tag":"x"}}"#)
        #expect(harness.gateway.counters.commands.done == 0)
        harness.handle(.settings(.refused))
        #expect((harness.gateway.counters.commands.done, harness.gateway.counters.commands.refused) == (0, 1))
        #expect(harness.gateway.counters.commands[.configuration] == 1)
        harness.handle(.settings(.kept(["_type": "configuration", "tag": "x"], waypoints: [], topic: nil)))
        #expect((harness.gateway.counters.commands.done, harness.gateway.counters.commands.refused) == (1, 1))
        #expect(harness.gateway.remoteSettings?["tag"] == "x")
    }
}
