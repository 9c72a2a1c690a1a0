import Beacon
import Testing

@testable import Regions

/// What is asked of the index about a beacon that belongs to very many regions.
@Suite struct RegionIndexCountTests {
    private static let uuid = BeaconUUID(high: 1, low: 2)
    private static let beacon = BeaconID(uuid: uuid, major: 3, minor: 4)
    private static let patterns = [
        BeaconPattern(uuid: uuid), BeaconPattern(uuid: uuid, major: 3), BeaconPattern(uuid: uuid, minor: 4),
        BeaconPattern(uuid: uuid, major: 3, minor: 4),
    ]
    private static let others = [
        BeaconPattern(uuid: uuid, major: 4), BeaconPattern(uuid: uuid, minor: 3),
        BeaconPattern(uuid: BeaconUUID(high: 1, low: 3)),
        BeaconPattern(uuid: uuid, major: 4, minor: 3),
    ]

    @Test func `Count, patterns and the first matches agree with all matches, for any mixture of patterns`() {
        var random = SystemRandomNumberGenerator()
        for size in [0, 1, 2, 7, 100, 1_000] {
            let list = (0..<size).compactMap { _ in (Self.patterns + Self.others).randomElement(using: &random) }
            let index = RegionIndex(list)
            var all: [Int32] = []
            index.forEachMatch(of: Self.beacon) { all.append($0) }
            all.sort()
            #expect(index.matchCount(of: Self.beacon) == all.count)
            #expect(index.matches(of: Self.beacon, most: .max) == all)
            #expect(Set(index.patterns(of: Self.beacon)) == Set(all.map { list[Int($0)] }))
            let some = index.matches(of: Self.beacon, most: 5)
            #expect(some.count == min(5, all.count) && Set(some).isSubset(of: Set(all)) && some == some.sorted())
            if !list.contains(BeaconPattern(uuid: Self.uuid, major: 3, minor: 4)) {
                #expect(index.mostExactMatch(of: Self.beacon) == all.first.map(Int.init))
            }
        }
    }
}
