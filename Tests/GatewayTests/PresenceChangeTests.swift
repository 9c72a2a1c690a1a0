import Beacon
import OwnTracks
import Presence
import Regions
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

    /// What would be on the disk.
    private struct Kept {
        var whole: [UInt8]
        var changes: [[UInt8]] = []

        /// As the service does at each transition.
        mutating func add(_ gateway: inout Gateway, at now: MonotonicInstant) {
            if let change = gateway.presenceChange(at: now) {
                changes.append(change.bytes)
            } else {
                self = Kept(whole: gateway.keepPresence(at: now))
            }
        }

        var presence: KeptPresence? { KeptPresence(bytes: whole, changes: changes) }
    }

    /// Who is near where, and which regions are occupied since when and by whom: what transitions are made of.
    private static func facts(_ presence: KeptPresence?) -> [String] {
        guard let presence else { return ["nothing"] }
        let near = presence.state.beacons.flatMap { beacon in
            beacon.memberships.filter(\.isNear).map {
                "\(beacon.major):\(beacon.minor) near in \($0.tracker) \($0.rid)"
            }
        }
        let stays = presence.stays.map {
            "\($0.tracker) \($0.rid) since \($0.since) \($0.timestamp ?? -1) \($0.beacon)"
        }
        return near.sorted() + stays
    }

    @Test(arguments: 1...6)
    func `Whoever comes and goes, the changes say what the whole would say`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var harness = try GatewayHarness(Self.waypoints)
        var kept = Kept(whole: harness.gateway.keepPresence(at: harness.now))
        var changed = 0
        for step in 0..<200 {
            for minor: UInt16 in 1...6 where UInt.random(in: 0..<4, using: &random) == 0 {
                try harness.hear(
                    major: minor < 5 ? 1 : 2, minor: minor, rssi: Int8.random(in: -90 ... -50, using: &random))
            }
            harness.wait(Int.random(in: 1...40, using: &random))
            if step % 67 == 66 { harness.setWaypoints(GatewayHarness.waypoint("Ada", rid: "ada", suffix: ":1:1")) }
            let moved = harness.effects.contains { if case .record = $0 { true } else { false } }
            if moved {
                kept.add(&harness.gateway, at: harness.now)
                changed = max(changed, kept.changes.count)
                let whole = KeptPresence(bytes: harness.gateway.keptPresence(at: harness.now).bytes)
                #expect(Self.facts(kept.presence) == Self.facts(whole), "step \(step)")
            }
            _ = harness.published()
        }
        #expect(changed > 20)
    }

    @Test func `A change is as small as what changed, however many are inside`() throws {
        var harness = try GatewayHarness(
            "waypoints: [\(GatewayHarness.waypoint("Ada", rid: "ada", suffix: ":1:1")),"
                + "\(GatewayHarness.waypoint("Anybody", rid: "any", suffix: ""))]")
        for minor: UInt16 in 2...500 { try harness.hear(minor: minor) }
        #expect(harness.gateway.keepPresence(at: harness.now).count > 50_000)
        try harness.hear(minor: 1)
        let kept = harness.gateway.presenceChange(at: harness.now)
        let change = try #require(kept)
        #expect(change.bytes.count < 500)
        #expect(change.regions.map(\.rid) == ["ada"])
    }

    @Test func `Presence is kept whole at first, after changes of regions or of the clock, and now and then`() throws {
        var harness = try GatewayHarness(Self.waypoints)
        func isWhole() -> Bool {
            guard harness.gateway.presenceChange(at: harness.now) == nil else { return false }
            _ = harness.gateway.keepPresence(at: harness.now)
            return true
        }
        #expect(isWhole(), "at first")
        #expect(!isWhole())
        harness.setWaypoints(GatewayHarness.waypoint("Cy", rid: "cy"))
        #expect(isWhole(), "regions changed")
        #expect(!isWhole())
        harness.step(by: 3600)
        #expect(isWhole(), "the times since which somebody is inside are others")
        harness.gateway.forgetKeptPresence()
        #expect(isWhole(), "what was kept is lost")
        var changes = 0
        while !isWhole() { changes += 1 }
        #expect((100...1000).contains(changes))
    }

    @Test func `Whatever happened to the bytes of a change, nothing traps`() throws {
        var harness = try GatewayHarness(Self.waypoints)
        let whole = harness.gateway.keepPresence(at: harness.now)
        for minor: UInt16 in 1...3 { try harness.hear(minor: minor) }
        let change = harness.gateway.presenceChange(at: harness.now)
        let original = try #require(change).bytes
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
