import Testing

@testable import Presence

@Suite struct RegionTableTests {
    @Test(arguments: [0, 1, 2, 3, 5, 1000])
    func `A table finds each region, and no other`(count: Int) {
        let regions = (0..<count).map { region("\($0)") }
        let table = RegionTable(regions)
        for position in regions.indices { #expect(table.position(of: key("\(position)"), in: regions) == position) }
        #expect(table.position(of: key("other"), in: regions) == nil)
        #expect(table.position(of: RegionKey(tracker: 1, rid: "0"), in: regions) == nil)
    }

    @Test func `Of regions with one key the last counts`() {
        let regions = [region("a"), region("b"), region("a")]
        #expect(RegionTable(regions).position(of: key("a"), in: regions) == 2)
    }
}
