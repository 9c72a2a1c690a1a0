import Testing

@testable import Presence

@Suite struct RegionTableTests {
    @Test(arguments: [0, 1, 2, 3, 5, 1000])
    func `A table finds each region, and no other`(count: Int) {
        let keys = (0..<count).map { key("\($0)") }
        let table = RegionTable(keys)
        for index in keys.indices { #expect(table.index(of: key("\(index)"), in: keys) == index) }
        #expect(table.index(of: key("other"), in: keys) == nil)
        #expect(table.index(of: RegionKey(tracker: 1, rid: "0"), in: keys) == nil)
    }

    @Test func `Of regions with one key the last counts`() {
        let keys = [key("a"), key("b"), key("a")]
        #expect(RegionTable(keys).index(of: key("a"), in: keys) == 2)
    }
}
