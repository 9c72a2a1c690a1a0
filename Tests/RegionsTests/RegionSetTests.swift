import Base
import Testing

@testable import Regions

@Suite("Regions are merged by rid")
struct RegionSetTests {
    private func region(_ rid: String, _ name: String = "Kitchen", timestamp: Int64 = 1, minor: UInt16 = 7) -> Region {
        Region(
            rid: rid,
            description: RegionDescription(
                name: name, pattern: BeaconPattern(uuid: RegionDescriptionTests.uuid, major: 1, minor: minor)),
            timestamp: timestamp)
    }

    @Test("a new rid is inserted at the end")
    func insertion() {
        var set = RegionSet([region("a")])
        let difference = set.apply([.set(region("b"), isRIDDerived: false)])
        #expect(set.regions.map(\.rid) == ["a", "b"])
        #expect(difference.inserted.map(\.rid) == ["b"])
        #expect(difference.updated.isEmpty && difference.removed.isEmpty)
    }

    @Test("a known rid is replaced in its place; regions that are not mentioned stay")
    func update() {
        var set = RegionSet([region("a"), region("b")])
        let difference = set.apply([.set(region("a", "Hall"), isRIDDerived: false)])
        #expect(set.regions.map(\.description.name) == ["Hall", "Kitchen"])
        #expect(difference.updated.map(\.rid) == ["a"])
    }

    @Test("the time stamp alone makes no update, but is kept")
    func timestamp() {
        var set = RegionSet([region("a", timestamp: 1)])
        #expect(set.apply([.set(region("a", timestamp: 2), isRIDDerived: false)]).isEmpty)
        #expect(set[rid: "a"]?.timestamp == 2)
    }

    @Test("the same merge again changes nothing")
    func idempotence() {
        var set = RegionSet()
        let changes: [RegionChange] = [.set(region("a"), isRIDDerived: false), .set(region("b"), isRIDDerived: true)]
        set.apply(changes)
        #expect(set.apply(changes).isEmpty)
    }

    @Test("a removal takes its region, and one of an unknown rid does nothing")
    func removal() {
        var set = RegionSet([region("a"), region("b"), region("c")])
        #expect(set.apply([.remove(rid: "b"), .remove(rid: "x")]).removed.map(\.rid) == ["b"])
        #expect(set.regions.map(\.rid) == ["a", "c"])
        #expect(set[rid: "c"] != nil && set[rid: "b"] == nil)
    }

    @Test("the last word about a rid in one merge counts")
    func order() {
        var set = RegionSet([region("a", "Old")])
        set.apply([.remove(rid: "a"), .set(region("a", "New"), isRIDDerived: false)])
        #expect(set[rid: "a"]?.description.name == "New")
        set.apply([.set(region("a", "Newer"), isRIDDerived: false), .remove(rid: "a")])
        #expect(set.regions.isEmpty)
    }

    @Test("without a rid, the only region with the same time stamp is meant and keeps its rid")
    func timestampKey() {
        var set = RegionSet([region("a", "Old", timestamp: 5)])
        let difference = set.apply([.set(region("derived", "New", timestamp: 5), isRIDDerived: true)])
        #expect(set.regions.map(\.rid) == ["a"])
        #expect(difference.updated.map(\.rid) == ["a"])
    }

    @Test("without a rid, a time stamp that two regions share means neither")
    func ambiguousTimestamp() {
        var set = RegionSet([region("a", timestamp: 5), region("b", timestamp: 5)])
        set.apply([.set(region("derived", timestamp: 5), isRIDDerived: true)])
        #expect(set.regions.map(\.rid) == ["a", "b", "derived"])
    }

    struct Merge: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let before: [(rid: String, timestamp: Int64)]
        /// A rid with `?` is derived; `-` removes.
        let changes: [(rid: String, timestamp: Int64)]
        let after: [String]

        init(
            _ what: String, _ before: [(rid: String, timestamp: Int64)], _ changes: [(rid: String, timestamp: Int64)],
            _ after: [String]
        ) {
            (testDescription, self.before, self.changes, self.after) = (what, before, changes, after)
        }
    }

    @Test(
        "a merge by time stamp means the same when it is repeated",
        arguments: [
            Merge("the only one", [("a", 5)], [("x?", 5)], ["a"]),
            Merge("two without rid", [("a", 5)], [("x?", 5), ("y?", 5)], ["a", "x", "y"]),
            Merge("one without and one with rid", [("a", 5)], [("x?", 5), ("z", 5)], ["a", "x", "z"]),
            Merge("named itself", [("a", 5)], [("a", 7), ("x?", 5)], ["a", "x"]),
            Merge("removed before", [("a", 5)], [("-a", 0), ("x?", 5)], ["x"]),
            Merge("removed behind", [("a", 5)], [("x?", 5), ("-a", 0)], ["x"]),
            Merge("one of two goes again", [], [("x?", 5), ("y?", 5), ("-y", 0)], ["x"]),
            Merge("the same one twice", [("a", 5)], [("x?", 5), ("x?", 5)], ["a"]),
        ])
    func repetition(_ this: Merge) {
        var set = RegionSet(this.before.map { region($0.rid, $0.rid, timestamp: $0.timestamp) })
        let changes: [RegionChange] = this.changes.map { change in
            if change.rid.hasPrefix("-") { return .remove(rid: String(change.rid.dropFirst())) }
            let rid = change.rid.split(separator: "?").joined()
            return .set(region(rid, rid, timestamp: change.timestamp), isRIDDerived: change.rid.hasSuffix("?"))
        }
        set.apply(changes)
        #expect(set.regions.map(\.rid).sorted() == this.after)
        #expect(set.apply(changes).isEmpty)
    }

    @Test("clearing removes everything and says so")
    func clearing() {
        var set = RegionSet([region("a"), region("b")])
        #expect(set.removeAll().removed.map(\.rid) == ["a", "b"])
        #expect(set.regions.isEmpty && set[rid: "a"] == nil)
    }

    @Test(
        "a missing rid is made from name and time stamp",
        arguments: [
            ("Kitchen", 1_700_000_000, "b4b412"), ("Main@WestWing", 1_432_817_332, "b4319f"),
            ("-MyBeacon", 1, "05f7ac"),
            ("home", 1_708_625_557, "67952e"),
        ])
    func derived(name: String, timestamp: Int64, rid: String) {
        #expect(derivedRID(name: name, timestamp: timestamp) == rid)
    }
}

@Suite("SHA-1")
struct SHA1Tests {
    @Test(
        "digests as in FIPS 180-4's examples, and around the block's length",
        arguments: [
            ("", [0xda39_a3ee, 0x5e6b_4b0d, 0x3255_bfef, 0x9560_1890, 0xafd8_0709]),
            ("abc", [0xa999_3e36, 0x4706_816a, 0xba3e_2571, 0x7850_c26c, 0x9cd0_d89d]),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                [0x8498_3e44, 0x1c3b_d26e, 0xbaae_4aa1, 0xf951_29e5, 0xe546_70f1]
            ),
        ] as [(String, [UInt32])])
    func vectors(message: String, digest: [UInt32]) {
        #expect(SHA1.digest(of: message.utf8) == digest)
    }
}

@Suite("What a region is")
struct RegionTests {
    private func region(_ text: String, radius: Double = 0) throws -> Region {
        Region(rid: "r", description: try RegionDescription(parsing: text), timestamp: 1, radius: radius)
    }

    @Test("beacon, circle, moving circle or place")
    func kinds() throws {
        let text = "Kitchen:\(RegionDescriptionTests.text):1"
        #expect(try region(text).kind == .beacon(BeaconPattern(uuid: RegionDescriptionTests.uuid, major: 1)))
        #expect(try region(text, radius: 10).kind == .circular)
        #expect(try region("+follow").kind == .follow)
        #expect(try region("+\(text)").kind == .follow)
        #expect(try region("Home").kind == .plain)
    }

    @Test(
        "monitoring modes are read only if written just so",
        arguments: [
            ("Kitchen|1|2", 1, 2), ("Kitchen|-1|0", -1, 0), ("Kitchen|1", nil, nil), ("Kitchen|1|3", nil, nil),
            ("Kitchen|a|b", nil, nil), ("Kitchen|1|2|3", nil, nil), ("Kitchen", nil, nil),
        ] as [(String, Int?, Int?)])
    func modes(name: String, onEnter: Int?, onLeave: Int?) throws {
        let modes = try region(name).monitoringModes
        #expect(modes?.onEnter == onEnter)
        #expect(modes?.onLeave == onLeave)
    }

    @Test("a leading - asks for a longer hold, and what stands behind | is not shown")
    func names() throws {
        #expect(try region("-Kitchen").asksForLongerLeave)
        #expect(try !region("Kitchen-").asksForLongerLeave)
        #expect(try region("-Kitchen|1|2").displayName == "-Kitchen")
    }
}
