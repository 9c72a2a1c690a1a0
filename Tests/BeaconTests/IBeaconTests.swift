import Testing

@testable import Beacon

@Suite("An iBeacon frame is believed only if it is whole and exact")
struct IBeaconTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let data: [UInt8]
        let minor: UInt16?
        let malformed: [MalformedKind]

        init(_ what: String, _ data: [UInt8], minor: UInt16? = nil, _ malformed: MalformedKind...) {
            (testDescription, self.data, self.minor, self.malformed) = (what, data, minor, malformed)
        }
    }

    @Test(
        arguments: [
            Case("alone", Packets.beacon(), minor: 7),
            Case("behind Flags", Packets.flags + Packets.beacon(), minor: 7),
            Case("before a name", Packets.beacon() + [3, 0x09, 0x41, 0x42], minor: 7),
            Case("behind another maker's data", [0x03, 0xff, 0xe0, 0x00] + Packets.beacon(), minor: 7),
            Case(
                "behind Apple data of another type", [0x05, 0xff, 0x4c, 0x00, 0x10, 0x00] + Packets.beacon(), minor: 7),
            Case("behind an empty structure of one type byte", [0x01, 0xff] + Packets.beacon(), minor: 7),
            Case("the first of two", Packets.beacon(minor: 1) + Packets.beacon(minor: 2), minor: 1),
            Case("behind an early end", [0x00] + Packets.beacon()),
            Case("a whole frame before a structure that runs out", Packets.beacon() + [0x09, 0x08], minor: 7),
            Case("one byte more, the battery of some tags", [0x1b, 0xff] + Packets.frame() + [0], minor: 7),
            Case("two bytes too long", [0x1c, 0xff] + Packets.frame() + [0, 0], .inexactBeacon),
            Case("one byte too short", [0x19, 0xff] + Packets.frame().dropLast(), .inexactBeacon),
            Case(
                "inexact, then exact", [0x05, 0xff, 0x4c, 0x00, 0x02, 0x15] + Packets.beacon(), minor: 7, .inexactBeacon
            ),
            Case("cut short", Array(Packets.beacon().dropLast()), .truncatedStructure),
            Case("behind a structure that runs out", [0x1f, 0x09] + Packets.beacon(), .truncatedStructure),
            Case("another company", [0x1a, 0xff, 0x4d] + Packets.frame().dropFirst()),
            Case("another type", [0x1a, 0xff, 0x4c, 0x00, 0x03] + Packets.frame().dropFirst(3)),
            Case("another length within", [0x1a, 0xff, 0x4c, 0x00, 0x02, 0x14] + Packets.frame().dropFirst(4)),
            Case("in service data", [0x1a, 0x16] + Packets.frame()),
            Case("nothing", []),
            Case("one byte", [0x1a]),
        ])
    func table(_ this: Case) {
        var malformed = MalformedCounters()
        let beacon = IBeacon(advertisingData: this.data.span, malformed: &malformed)
        #expect(beacon?.id.minor == this.minor)
        for kind in MalformedKind.allCases {
            #expect(malformed[kind] == (this.malformed.contains(kind) ? 1 : 0), "\(kind)")
        }
    }

    @Test("UUID, major and minor are big endian; the measured power is signed")
    func members() throws {
        var malformed = MalformedCounters()
        let data = Packets.beacon(major: 0x0102, minor: 0xfffe, power: -59)
        let beacon = try #require(IBeacon(advertisingData: data.span, malformed: &malformed))
        #expect(beacon.id == BeaconID(uuid: Packets.uuid, major: 258, minor: 65534))
        #expect(beacon.measuredPower.dBm == -59)
    }

    @Test("manufacturer specific data alone is held to the same rule")
    func manufacturerData() {
        let frame = Packets.frame()
        #expect(IBeacon(manufacturerSpecificData: frame.span) != nil)
        #expect(IBeacon(manufacturerSpecificData: (frame + [0]).span) != nil)
        #expect(IBeacon(manufacturerSpecificData: (frame + [0, 0]).span) == nil)
        #expect(IBeacon(manufacturerSpecificData: frame.span.extracting(droppingLast: 1)) == nil)
    }

    @Test("every prefix of a packet is harmless, and only the whole one is a beacon")
    func prefixes() {
        let data = Packets.flags + Packets.beacon()
        for length in 0...data.count {
            var malformed = MalformedCounters()
            let beacon = IBeacon(advertisingData: data.span.extracting(first: length), malformed: &malformed)
            #expect((beacon != nil) == (length == data.count))
        }
    }
}
