import TestSupport
import Testing

@testable import Beacon

@Suite("Any bytes may come")
struct RandomBytesTests {
    @Test("random events never trap and never give more data than a report can carry", arguments: 0..<8)
    func randomEvents(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var parser = AdvertisingReportParser()
        var malformed = MalformedCounters()
        var delivered: UInt64 = 0
        for _ in 0..<2_000 {
            var event = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            // Mostly something that looks right at first.
            if event.count > 4, Bool.random(using: &random) {
                event[0] = 0x3e
                event[1] = UInt8(event.count - 2)
                event[2] = Bool.random(using: &random) ? 0x02 : 0x0d
                event[3] = UInt8.random(in: 0...3, using: &random)
            }
            parser.parse(event: event.span) { _, data in
                delivered += 1
                if data.count > 229 { Issue.record("\(data.count) bytes of data") }
                _ = IBeacon(advertisingData: data, malformed: &malformed)
            }
        }
        #expect(parser.reports == delivered)
    }

    @Test("one flipped bit in a good event changes at most what it hits", arguments: 0..<8)
    func flippedBits(bit: Int) {
        let good = Packets.legacy(
            Packets.legacyReport(Packets.flags + Packets.beacon(minor: 1)),
            Packets.legacyReport(Packets.flags + Packets.beacon(minor: 2)))
        for index in good.indices {
            var event = good
            event[index] ^= UInt8(1 << bit)
            #expect(parse([event]).minors.count <= 2)
            #expect(parse([event, good]).minors.suffix(2) == [1, 2])
        }
    }

    @Test("structures of a walk lie within the data, one behind the other", arguments: 0..<4)
    func walk(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        for _ in 0..<1_000 {
            let data = (0..<Int.random(in: 0...31, using: &random)).map { _ in UInt8.random(in: 0...12, using: &random)
            }
            var used = 0
            let whole = AdvertisingData.forEachStructure(in: data.span) { type, content in
                used += 2 + content.count
                if type != data[used - content.count - 1] { Issue.record("not the type before the content") }
                return true
            }
            #expect(used <= data.count)
            #expect(whole || used < data.count)
        }
    }
}
