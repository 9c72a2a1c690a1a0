import Presence
import TestSupport
import Testing

@testable import Gateway

/// Presence kept as a whole and the changes since: what is read of it is what is.
@Suite struct PresenceChangeTests {
    private static let waypoints =
        "waypoints: ["
        + [
            GatewayHarness.waypoint("Anybody", rid: "any", suffix: ""),
            GatewayHarness.waypoint("Family", rid: "family", suffix: ":1"),
            GatewayHarness.waypoint("Ada", rid: "ada", suffix: ":1:1"),
            GatewayHarness.waypoint("Ben", rid: "ben", suffix: ":1:2", more: #","enterRSSI":-65,"leaveRSSI":-80"#),
        ].joined(separator: ",") + "]"

    /// Who is near where, and which regions are occupied since when and by whom: what transitions are made of.
    private static func facts(_ presence: KeptPresence?) -> [String] {
        guard let presence else { return ["nothing"] }
        let near = presence.state.beacons.flatMap { beacon in
            beacon.memberships.filter(\.isNear).map {
                "\(beacon.major):\(beacon.minor) near in \($0.tracker) \($0.rid)"
            }
        }
        let stays = presence.occupancies.map {
            "\($0.tracker) \($0.rid) since \($0.since) \($0.timestamp ?? -1) \($0.beacon.map { "\($0)" } ?? ($0.isOutside ? "outside" : "circle"))"
        }
        return near.sorted() + stays
    }

    @Test(arguments: 1...6)
    func `For any enters and leaves, the changes describe the same state as the whole`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var harness = try GatewayHarness(Self.waypoints)
        var changed = 0
        for step in 0..<200 {
            for minor: UInt16 in 1...6 where UInt.random(in: 0..<4, using: &random) == 0 {
                try harness.hear(
                    major: minor < 5 ? 1 : 2, minor: minor, rssi: Int8.random(in: -90 ... -50, using: &random))
            }
            harness.wait(Int.random(in: 1...40, using: &random))
            if step % 67 == 66 { harness.setWaypoints(GatewayHarness.waypoint("Ada", rid: "ada", suffix: ":1:1")) }
            changed = max(changed, harness.storedChanges.count)
            let kept = KeptPresence(bytes: harness.storedWhole, changes: harness.storedChanges)
            let whole = harness.presenceWhenStored.flatMap { KeptPresence(bytes: $0.bytes) }
            #expect(Self.facts(kept) == Self.facts(whole), "step \(step)")
            _ = harness.drainMessages()
        }
        #expect(changed > 20)
    }

    @Test func `A change is as small as what changed, however many are inside`() throws {
        var harness = try GatewayHarness(
            "waypoints: [\(GatewayHarness.waypoint("Ada", rid: "ada", suffix: ":1:1")),"
                + "\(GatewayHarness.waypoint("Anybody", rid: "any", suffix: ""))]")
        for minor: UInt16 in 2...500 { try harness.hear(minor: minor) }
        harness.handle(.stopping)
        #expect(harness.storedWhole.count > 50_000)
        try harness.hear(minor: 1)
        let change = try #require(harness.change)
        #expect(change.count < 500)
    }

    @Test func `Presence is kept whole at first, after changes of regions or of the clock, and now and then`() throws {
        var harness = try GatewayHarness(Self.waypoints)
        func hasWhole() -> Bool {
            harness.effects.contains { if case .presence(.whole) = $0 { true } else { false } }
        }
        /// Beacon 9:9 leaves, if it is near, and enters.
        func isWhole() throws -> Bool {
            _ = harness.drainMessages()
            harness.wait(61)
            try harness.hear(major: 9, minor: 9)
            return hasWhole()
        }
        #expect(hasWhole(), "at first")
        #expect(try !isWhole())
        harness.setWaypoints(GatewayHarness.waypoint("Cy", rid: "cy"))
        #expect(hasWhole(), "regions changed")
        #expect(try !isWhole())
        harness.step(by: 3600)
        #expect(try isWhole(), "the times since which regions are occupied are others")
        harness.handle(.writeLost)
        #expect(try isWhole(), "what was stored is lost")
        var changes = 0
        while try !isWhole() { changes += 1 }
        #expect((50...1000).contains(changes))
    }

    @Test func `Whatever happened to the bytes of a change, nothing traps`() throws {
        var harness = try GatewayHarness(Self.waypoints)
        harness.handle(.stopping)
        let whole = harness.storedWhole
        try harness.hear(minor: 1)
        let original = try #require(harness.change)
        let regions = harness.gateway.trackers.map(\.regions)
        var random = SplitMix64(seed: 5)
        var read = 0
        for _ in 0..<500 {
            var bytes = original
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
            guard let kept = KeptPresence(bytes: whole, changes: [original, bytes]) else { continue }
            read += 1
            var other = try GatewayHarness(Self.waypoints)
            other.begin(with: kept, regions: regions, isSameBoot: Bool.random(using: &random))
            try other.hear()
            other.wait(100_000)
        }
        #expect(read > 50)
        for count in 0..<original.count {
            #expect(KeptPresence(bytes: whole, changes: [Array(original[..<count])]) == nil)
        }
    }
}

extension GatewayHarness {
    /// The last update of presence, if it was a change.
    fileprivate var change: [UInt8]? {
        let updates = effects.compactMap { if case .presence(let update) = $0 { update } else { nil } }
        guard case .change(let change)? = updates.last else { return nil }
        return change
    }
}
