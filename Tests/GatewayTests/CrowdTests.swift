import Base
import JSON
import Regions
import Testing

@testable import Gateway

/// Many transitions at one time: what they cost, and that none is lost.
@Suite struct CrowdTests {
    /// Regions 0 ..< count, each of a beacon of its own: that with the next minor.
    static func regions(_ count: Int) throws -> [RegionChange] {
        try (0..<count).map { number in
            let pattern = "\(GatewayHarness.uuid):\(number / 60_000 + 1):\(number % 60_000 + 1)"
            let description = try RegionDescription(parsing: "R\(number):\(pattern)", base: .decimal)
            return .set(Region(rid: "r\(number)", description: description, timestamp: 1), isRIDDerived: false)
        }
    }

    private func locations(in messages: [Publication]) throws -> [JSONValue] {
        try messages.filter { $0.kind == .location }.map { try JSONValue(parsing: $0.payload) }
    }

    @Test func `Up to 32 transitions of a second have a location each, the others share one at its end`() throws {
        var harness = try GatewayHarness("lat: 52, lon: 6")
        harness.change(try Self.regions(100))
        harness.wait(1)
        _ = harness.drainMessages()
        for minor: UInt16 in 1...32 { try harness.hear(minor: minor) }
        #expect(try locations(in: harness.drainMessages()).count == 32)
        for minor: UInt16 in 33...100 { try harness.hear(minor: minor) }
        #expect(try locations(in: harness.drainMessages()).isEmpty)
        harness.wait(1)
        let shared = try locations(in: harness.drainMessages())
        #expect(shared.count == 1)
        #expect(shared.first?["inregions"]?.array?.count == 100)
        harness.wait(10)
        #expect(try locations(in: harness.drainMessages()).isEmpty)
    }

    @Test func `A shared location goes before the transitions of the next second`() throws {
        var harness = try GatewayHarness("lat: 52, lon: 6")
        harness.change(try Self.regions(40))
        harness.wait(1)
        for minor: UInt16 in 1...39 { try harness.hear(minor: minor) }
        _ = harness.drainMessages()
        harness.pass(1)
        try harness.hear(minor: 40)
        let kinds = harness.drainMessages().map(\.kind).filter { $0 != .state }
        #expect(kinds == [.location, .transition, .location])
    }

    @Test func `A location lists at most 256 regions`() throws {
        var harness = try GatewayHarness("lat: 52, lon: 6")
        harness.change(try Self.regions(400))
        harness.wait(2)
        for minor: UInt16 in 1...400 { try harness.hear(minor: minor) }
        harness.wait(1)
        let last = try #require(try locations(in: harness.drainMessages()).last)
        #expect(last["inregions"]?.array?.count == 256)
        #expect(last["inrids"]?.array?.count == 256)
    }

    @Test func `Everything that is decided at one instant is carried out in turns, once and in order`() throws {
        var harness = try GatewayHarness()
        harness.change(try Self.regions(1000))
        harness.wait(2)
        for minor: UInt16 in 1...1000 { try harness.hear(minor: minor) }
        _ = harness.drainMessages()
        harness.pass(60)
        var turns: [Int] = []
        var left: [String] = []
        while let deadline = harness.gateway.nextDeadline, turns.count < 200 {
            harness.pass(max(.zero, harness.now.duration(to: deadline)))
            harness.handle(.tick)
            let events = try harness.drainEvents()
            turns.append(events.count)
            left += events
        }
        #expect(turns.max() ?? 0 <= 100)
        #expect(left == (0..<1000).map { "leave R\($0)" })
        #expect(harness.gateway.trackers[0].occupancy.isEmpty)
    }

    @Test func `Transitions that wait for their turn when the program is killed are made up at the next start`() throws
    {
        var harness = try GatewayHarness()
        harness.change(try Self.regions(300))
        harness.wait(2)
        for minor: UInt16 in 1...300 { try harness.hear(minor: minor) }
        harness.pass(60)
        harness.handle(.tick)
        let before = try harness.drainEvents().filter { $0.hasPrefix("leave") }
        #expect(before.count == 100)
        let kept = try #require(KeptPresence(bytes: harness.storedWhole, changes: harness.storedChanges))
        harness.begin(with: kept, regions: harness.gateway.trackers.map(\.regions), isSameBoot: true)
        harness.wait(1)
        let after = try harness.drainEvents()
        #expect((before + after).sorted() == (0..<300).map { "leave R\($0)" }.sorted())
    }

    @Test func `What a removal has left to tell is told before the program ends`() throws {
        var harness = try GatewayHarness()
        harness.change(try Self.regions(1000))
        harness.wait(2)
        for minor: UInt16 in 1...300 { try harness.hear(minor: minor) }
        _ = harness.drainMessages()
        harness.command(#"{"_type":"cmd","action":"clearWaypoints"}"#, ticks: false)
        try harness.restart(after: 1)
        harness.wait(10)
        let messages = harness.drainMessages()
        #expect(messages.count { $0.kind == .transition } == 300)
        #expect(messages.count { $0.kind == .state && $0.payload.isEmpty } == 1000)
    }

    @Test func `A beacon in 5,000 regions enters and leaves each of them once`() throws {
        var harness = try GatewayHarness("lat: 52, lon: 6")
        let description = GatewayHarness.uuid + ":1:7"
        harness.change(
            try (0..<5000).map { number in
                let region = try RegionDescription(parsing: "R\(number):\(description)", base: .decimal)
                return .set(Region(rid: "r\(number)", description: region, timestamp: 1), isRIDDerived: false)
            })
        harness.wait(2)
        _ = harness.drainMessages()
        try harness.hear()
        harness.wait(200)
        let messages = harness.drainMessages()
        let events = try messages.filter { $0.kind == .transition }.map { message in
            let json = try JSONValue(parsing: message.payload)
            return "\(json["event"]?.string ?? "?") \(json["desc"]?.string ?? "?")"
        }
        #expect(events.count == 10_000)
        #expect(Set(events).count == 10_000)
        #expect(try locations(in: messages).count < 200)
    }
}
