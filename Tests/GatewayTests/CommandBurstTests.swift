import Base
import JSON
import Regions
import Testing

@testable import Gateway
@testable import OwnTracks

/// Many commands at one time: what they cost, and which are answered.
@Suite struct CommandBurstTests {
    /// Regions of which a command that reads or writes all takes longer than one turn of the loop may. 5,000 take as long.
    private static let regions = 6_000

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
        var harness = try harness(regions: Self.regions)
        for _ in 0..<256 { harness.command(Self.waypoints) }
        let first = answers(harness.drainMessages(), on: "/waypoints")
        harness.wait(60)
        let second = answers(harness.drainMessages(), on: "/waypoints")
        #expect((first, second) == (1, 1))
        #expect(harness.gateway.counters.commands.done == 256)
    }

    @Test func `However slow the machine, commands that come in one turn of the loop are carried out in others`() throws
    {
        var harness = try harness(regions: Self.regions)
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
        var harness = try harness(regions: Self.regions)
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
        var harness = try harness(regions: Self.regions)
        for number in 0..<50 {
            harness.setWaypoints(GatewayHarness.waypoint("New \(number)", rid: "n\(number)", suffix: ":9:\(number)"))
        }
        #expect(harness.gateway.trackers[0].regions.regions.count == Self.regions + 1)
        harness.wait(1)
        #expect((5...45).contains(harness.gateway.trackers[0].regions.regions.count - Self.regions))
        harness.wait(10)
        #expect(harness.gateway.trackers[0].regions.regions.count == Self.regions + 50)
        var small = try GatewayHarness()
        for number in 0..<50 {
            small.setWaypoints(GatewayHarness.waypoint("New \(number)", rid: "n\(number)", suffix: ":9:\(number)"))
        }
        #expect(small.gateway.trackers[0].regions.regions.count == 50)
    }

    @Test func `What waits is bounded: commands beyond it are refused, counted, and the reason is logged`() throws {
        var harness = try harness(regions: Self.regions)
        // The first command makes the others wait, and leaves no region that would make them slow.
        harness.command(#"{"_type":"cmd","action":"clearWaypoints"}"#)
        #expect(harness.gateway.trackers[0].regions.regions.isEmpty)
        for number in 1..<300 {
            harness.setWaypoints(GatewayHarness.waypoint("New \(number)", rid: "n\(number)", suffix: ":9:\(number)"))
        }
        #expect(harness.gateway.counters.commands.refused == 300 - 1 - UInt64(CommandQueue.mostWaiting))
        let logs = harness.effects.compactMap { if case .log(let entry) = $0 { entry.text } else { nil } }
        #expect(logs.contains { $0.contains("too many commands are waiting") })
        harness.wait(60)
        #expect(harness.gateway.trackers[0].regions.regions.count == CommandQueue.mostWaiting)
    }

    static let commands: [@Sendable (Int) -> String] = [
        { _ in #"{"_type":"cmd","action":"reportLocation"}"# }, { _ in #"{"_type":"cmd","action":"clearWaypoints"}"# },
        { number in
            let waypoint = GatewayHarness.waypoint("New \(number)", rid: "n", suffix: ":9:\(number)")
            return #"{"_type":"cmd","action":"setWaypoints","waypoints":[\#(waypoint)]}"#
        },
    ]

    @Test(arguments: commands)
    func `Commands of a tracker that come too fast are refused and counted, and those of another are obeyed`(
        command: @Sendable (Int) -> String
    ) throws {
        var harness = try GatewayHarness("lat: 52, lon: 6, trackers: [{tid: \"K1\", deviceId: \"keys\"}]")
        // 3,000 in a minute.
        for number in 0..<3_000 {
            harness.pass(.milliseconds(20))
            harness.command(command(number))
        }
        let counts = harness.gateway.counters.commands
        let allowed = UInt64(CommandQueue.mostAtOnce) + 60
        #expect((allowed - 1...allowed).contains(counts.done), "\(counts.done)")
        #expect(counts[.overload] == 3_000 - counts.done)
        #expect(harness.log.count <= 3_000)
        harness.command(Self.status, tracker: 1)
        #expect(harness.gateway.counters.commands.done == counts.done + 1)
        harness.pass(.seconds(2))
        harness.command(Self.status)
        #expect(harness.gateway.counters.commands.done == counts.done + 2)
    }

    @Test func `The cards of many trackers are published a few at a time, and each once`() throws {
        for (bytes, most) in [(292 << 10, 1), (10 << 10, 6), (10, 1000)] {
            let trackers = (0..<100).map { "{tid: \"t\", deviceId: \"t\($0)\"}" }.joined(separator: ",")
            let face = String(repeating: "x", count: bytes)
            var harness = try GatewayHarness("card: {name: \"Hall\", face: \"\(face)\"}, trackers: [\(trackers)]")
            harness.handle(.brokerConnected(isNew: true))
            var topics: [String] = []
            for _ in 0..<1000 {
                let cards = harness.drainMessages().filter { $0.topic.hasSuffix("/info") }
                #expect(cards.count <= most)
                topics += cards.map(\.topic)
                guard let due = harness.gateway.nextDeadline, due < harness.now.advanced(by: .seconds(60)) else {
                    break
                }
                harness.pass(max(.zero, harness.now.duration(to: due)))
                harness.handle(.tick)
            }
            #expect(topics.count == 101 && Set(topics).count == 101, "\(bytes): \(topics.count)")
        }
    }

    @Test func `However often Home Assistant starts, there is one round of announcements at a time`() throws {
        var harness = try GatewayHarness("reannounce: true")
        harness.change(
            try (0..<200).map { number in
                let text = "R\(number):\(GatewayHarness.uuid):1:\(number)"
                let description = try RegionDescription(parsing: text, base: .decimal)
                return .set(Region(rid: "r\(number)", description: description, timestamp: 1), isRIDDerived: false)
            })
        for minor: UInt16 in 0..<200 { try harness.hear(minor: minor) }
        harness.handle(.brokerConnected(isNew: true))
        harness.wait(2)
        _ = harness.drainMessages()
        for _ in 0..<5000 {
            harness.handle(.homeAssistantStarted)
            harness.pass(.milliseconds(2))
            try harness.hear()
            harness.handle(.tick)
        }
        let first = harness.drainMessages()
        #expect(first.count { $0.kind == .state } == 200)
        #expect(first.count { $0.kind == .transition } == 200)
        // The others have one round together.
        harness.wait(25)
        #expect(harness.drainMessages().count { $0.kind == .transition } == 200)
        harness.wait(50)
        #expect(harness.drainMessages().allSatisfy { $0.kind != .transition || !$0.text.contains("enter") })
    }

    @Test func `Regions that waiting commands bring are bounded too`() throws {
        var harness = try GatewayHarness()
        let many = (0..<20_000).map { GatewayHarness.waypoint("R", rid: "m\($0)", suffix: ":8:\($0)") }
            .joined(separator: ",")
        for _ in 0..<5 { harness.setWaypoints(many) }
        // The first runs at once, two wait.
        #expect(harness.gateway.counters.commands.refused == 2)
    }
}
