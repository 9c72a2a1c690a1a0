import Base
import Testing

@testable import Regions

@Suite struct RegionAdditionTests {
    private func region(_ text: String, at timestamp: Int64 = 100) throws -> Region {
        Region(
            rid: "",
            description: try RegionDescription(
                parsing: text.replacing("U", with: "CA271EAE-5FA8-4E80-8F08-2A302A95A959")),
            timestamp: timestamp)
    }

    @Test func `Regions that are added in one second are all there, each with a rid and a time of its own`() throws {
        var set = RegionSet()
        for minor in 1...5 {
            guard case .new(let new) = RegionAddition(try region("Keys:U:1:\(minor)"), to: set) else {
                Issue.record("minor \(minor) is there already")
                continue
            }
            #expect(set.apply([.set(new, isRIDDerived: false)]).inserted.count == 1)
            #expect(new.rid == derivedRID(name: "Keys", timestamp: new.timestamp))
        }
        #expect(set.regions.map(\.timestamp) == [100, 101, 102, 103, 104])
    }

    @Test func `The rid of another region is not given away, whatever its time`() throws {
        let taken = derivedRID(name: "Keys", timestamp: 100)
        var other = try region("Bag:U:2:2", at: 5)
        other.rid = taken
        guard case .new(let new) = RegionAddition(try region("Keys:U:1:1"), to: RegionSet([other])) else {
            Issue.record("it is there already")
            return
        }
        #expect(new.timestamp == 101)
    }

    @Test(arguments: [
        ("Keys:U:1:7", true), ("Keys:U:0001:0007", true), ("Keys:U:1:8", false), ("Keys:U:1", false),
        ("Bag:U:1:7", false),
        ("keys:U:1:7", false),
    ])
    func `The same name and the same beacons are there already`(text: String, isThere: Bool) throws {
        var known = try region("Keys:U:1:7", at: 5)
        known.rid = "k"
        let addition = RegionAddition(try region(text), to: RegionSet([known]))
        if isThere { #expect(addition == .isThere(known)) } else { #expect(addition != .isThere(known)) }
    }

    @Test func `A circle of the name is no beacon region`() throws {
        var circle = try region("Keys:U:1:7")
        (circle.rid, circle.radius) = ("c", 50)
        guard case .new = RegionAddition(try region("Keys:U:1:7"), to: RegionSet([circle])) else {
            Issue.record("the circle is taken for it")
            return
        }
    }
}
