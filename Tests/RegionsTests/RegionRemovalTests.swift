import Base
import Testing

@testable import Regions

/// Waypoints that delete and have no `rid`.
@Suite struct RegionRemovalTests {
    private static let base = "CA271EAE-5FA8-4E80-8F08-2A302A95A959"

    private static func description(_ text: String) -> RegionDescription? {
        try? RegionDescription(parsing: text.contains("/") ? text.replacing("/", with: ":\(base):1:") : text)
    }

    /// `rid=name/minor@tst`, or `rid=name@tst` for a region without a beacon.
    private static func region(_ text: String) -> Region? {
        let parts = text.split { "=@".contains($0) }.map(String.init)
        return description(parts[1]).map { Region(rid: parts[0], description: $0, timestamp: Int64(parts[2]) ?? 0) }
    }

    /// `name/minor@tst`; the time stamp may be missing.
    private static func removal(_ text: String) -> RegionRemoval {
        let parts = text.split(separator: "@").map(String.init)
        let timestamp = parts.count > 1 ? Int64(parts[1]) : nil
        let name = String(parts[0].prefix { $0 != "/" })
        return RegionRemoval(
            rid: derivedRID(name: name, timestamp: timestamp ?? 0), timestamp: timestamp,
            description: description(parts[0]))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let why: String
        let regions: [String]
        let removals: [String]
        /// `rid`s.
        let left: [String]
        /// The candidates of each removal that removed nothing.
        var unmatched: [[String]] = []
        var testDescription: String { why }
    }

    static let rows: [Row] = [
        .init(
            why: "the derived rid", regions: ["\(derivedRID(name: "Bag", timestamp: 5))=Bag/7@5", "b=Bag/7@6"],
            removals: ["Bag/7@5"], left: ["b"]),
        .init(
            why: "the time stamp, under another name", regions: ["a=Bag/7@5", "b=Bag/8@6"], removals: ["Rucksack/7@5"],
            left: ["b"]),
        .init(
            why: "the description, with another time stamp", regions: ["a=Bag/7@5", "b=Keys/8@6"],
            removals: ["Bag/7@9"], left: ["b"]),
        .init(
            why: "the description, without a time stamp", regions: ["a=Bag/7@5", "b=Keys/8@6"], removals: ["Bag/7"],
            left: ["b"]),
        .init(why: "the name alone", regions: ["a=Bag/7@5", "b=Keys/8@6"], removals: ["Bag"], left: ["b"]),
        .init(why: "the name of a circle", regions: ["a=Home@5", "b=Keys/8@6"], removals: ["Home"], left: ["b"]),
        .init(
            why: "another beacon of the name is not meant", regions: ["a=Bag/7@5"], removals: ["Bag/8"], left: ["a"],
            unmatched: [[]]),
        .init(
            why: "two of the name", regions: ["a=Bag/7@5", "b=Bag/8@6"], removals: ["Bag"], left: ["a", "b"],
            unmatched: [["a", "b"]]),
        .init(
            why: "two of the description", regions: ["a=Bag/7@5", "b=Bag/7@6"], removals: ["Bag/7"], left: ["a", "b"],
            unmatched: [["a", "b"]]),
        .init(
            why: "two of the time stamp", regions: ["a=Bag/7@5", "b=Keys/7@5"], removals: ["Rucksack/7@5"],
            left: ["a", "b"],
            unmatched: [["a", "b"]]),
        .init(
            why: "a time stamp that two removals have is no key", regions: ["a=Bag/7@5"], removals: ["X/7@5", "Y/7@5"],
            left: ["a"], unmatched: [[], []]),
        .init(why: "nothing of the kind", regions: ["a=Bag/7@5"], removals: ["Keys/8@9"], left: ["a"], unmatched: [[]]),
        .init(why: "two removals of one region", regions: ["a=Bag/7@5"], removals: ["Bag/7", "Bag"], left: []),
    ]

    @Test(arguments: rows)
    func `A removal means a region by its rid, else its time, else its description, else its name, if only one has it`(
        row: Row
    ) {
        var set = RegionSet(row.regions.compactMap(Self.region))
        #expect(set.regions.count == row.regions.count)
        let difference = set.apply(row.removals.map { .removeMeant(Self.removal($0)) })
        #expect(set.regions.map(\.rid) == row.left)
        #expect(difference.unmatched.map(\.candidates) == row.unmatched)
    }

    @Test func `A region that the same list names is not meant by a removal without a rid`() throws {
        let region = try #require(Self.region("a=Bag/7@5"))
        var set = RegionSet([region])
        let difference = set.apply([.set(region, isRIDDerived: false), .removeMeant(Self.removal("Bag/7"))])
        #expect(set.regions.map(\.rid) == ["a"])
        #expect(difference.unmatched.count == 1)
    }

    @Test func `What removes nothing is told with what it named, or with the rids to choose from`() {
        var set = RegionSet(["a=Bag/7@5", "b=Bag/8@6"].compactMap(Self.region))
        let difference = set.apply([
            .remove(rid: "nobody"), .removeMeant(Self.removal("Bag")), .removeMeant(Self.removal("Keys/9")),
        ])
        #expect(
            difference.unmatched.map(\.description) == [
                "'nobody' deletes nothing: there is no such region",
                "'Bag' deletes nothing: 2 regions may be meant; give the rid of one: a, b",
                "'Keys' deletes nothing: there is no such region",
            ])
        #expect(difference.isEmpty)
    }
}
