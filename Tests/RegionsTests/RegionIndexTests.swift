import Beacon
import TestSupport
import Testing

@testable import Regions

@Suite("The index finds the regions of a beacon")
struct RegionIndexTests {
    private static let home = RegionDescriptionTests.uuid
    private static let street = BeaconUUID(high: 1, low: 2)

    /// Sorted, because the order of matches is not specified.
    private func matches(_ beacon: BeaconID, in patterns: [BeaconPattern]) -> [Int32] {
        var found: [Int32] = []
        RegionIndex(patterns).forEachMatch(of: beacon) { found.append($0) }
        return found.sorted()
    }

    @Test("by UUID alone, by major, by minor, and by both")
    func wildcards() {
        let patterns = [
            BeaconPattern(uuid: Self.home), BeaconPattern(uuid: Self.home, major: 1),
            BeaconPattern(uuid: Self.home, minor: 7), BeaconPattern(uuid: Self.home, major: 1, minor: 7),
        ]
        #expect(matches(BeaconID(uuid: Self.home, major: 1, minor: 7), in: patterns) == [0, 1, 2, 3])
        #expect(matches(BeaconID(uuid: Self.home, major: 1, minor: 8), in: patterns) == [0, 1])
        #expect(matches(BeaconID(uuid: Self.home, major: 2, minor: 7), in: patterns) == [0, 2])
        #expect(matches(BeaconID(uuid: Self.home, major: 7, minor: 1), in: patterns) == [0])
        #expect(matches(BeaconID(uuid: Self.street, major: 1, minor: 7), in: patterns) == [])
    }

    @Test("all regions that mean the same beacons")
    func sameBeacons() {
        let pattern = BeaconPattern(uuid: Self.home, major: 1, minor: 7)
        #expect(matches(BeaconID(uuid: Self.home, major: 1, minor: 7), in: [pattern, pattern, pattern]) == [0, 1, 2])
    }

    @Test("a beacon that sends 0 is found by wildcards only")
    func zero() {
        let patterns = [BeaconPattern(uuid: Self.home), BeaconPattern(uuid: Self.home, major: 1)]
        #expect(matches(BeaconID(uuid: Self.home, major: 0, minor: 0), in: patterns) == [0])
    }

    @Test("without regions nothing is found")
    func empty() {
        #expect(matches(BeaconID(uuid: Self.home, major: 1, minor: 7), in: []) == [])
        #expect(!RegionIndex([]).hasMatch(of: BeaconID(uuid: Self.home, major: 1, minor: 7)))
    }

    @Test("it finds what comparing with each pattern finds", arguments: 0..<8)
    func bruteForce(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let uuids = (0..<4).map { BeaconUUID(high: UInt64($0), low: 0) }
        let numbers: [UInt16?] = [nil, 1, 2, 3, 65535]
        let patterns = (0..<Int.random(in: 0...200, using: &random)).map { _ in
            BeaconPattern(
                uuid: uuids[Int.random(in: 0..<3, using: &random)],
                major: numbers[Int.random(in: 0..<5, using: &random)],
                minor: numbers[Int.random(in: 0..<5, using: &random)])
        }
        let index = RegionIndex(patterns)
        for uuid in uuids {
            for major: UInt16 in [0, 1, 2, 3, 65535] {
                for minor: UInt16 in [0, 1, 2, 3, 65535] {
                    let beacon = BeaconID(uuid: uuid, major: major, minor: minor)
                    let expected = patterns.indices.filter { patterns[$0].matches(beacon) }.map(Int32.init)
                    var found: [Int32] = []
                    index.forEachMatch(of: beacon) { found.append($0) }
                    #expect(found.sorted() == expected)
                    #expect(index.hasMatch(of: beacon) == !expected.isEmpty)
                    let exact = expected.last { patterns[Int($0)].major != nil && patterns[Int($0)].minor != nil }
                    #expect(index.mostExactMatch(of: beacon) == (exact ?? expected.first).map(Int.init))
                }
            }
        }
    }
}
