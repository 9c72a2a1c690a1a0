import Testing

@testable import Beacon

@Suite("An HCI event is taken apart into advertising reports")
struct AdvertisingReportTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let events: [[UInt8]]
        var minors: [UInt16] = []
        var malformed: [MalformedKind] = []

        init(_ what: String, _ events: [UInt8]..., minors: [UInt16] = [], malformed: [MalformedKind] = []) {
            (testDescription, self.events, self.minors, self.malformed) = (what, events, minors, malformed)
        }
    }

    private static let one = Packets.legacyReport(Packets.flags + Packets.beacon(minor: 1))
    private static let two = Packets.legacyReport(Packets.beacon(minor: 2))
    private static let other: [UInt8] = [9, 9, 9, 9, 9, 9]

    @Test(
        "which beacons are heard and what is counted",
        arguments: [
            Case("legacy with Flags", Packets.legacy(one), minors: [1]),
            Case("legacy without Flags", Packets.legacy(two), minors: [2]),
            Case("two reports in one event", Packets.legacy(one, two), minors: [1, 2]),
            Case("extended", Packets.extended(Packets.extendedReport(Packets.beacon(minor: 3))), minors: [3]),
            Case(
                "two extended reports in one event",
                Packets.extended(
                    Packets.extendedReport(Packets.beacon(minor: 3)), Packets.extendedReport(Packets.beacon(minor: 4))),
                minors: [3, 4]),
            Case("another event", [0x0e, 0x01, 0x00]),
            Case("another LE event", Packets.event(0x01, [one])),
            Case("no byte at all", [], malformed: [.truncatedEvent]),
            Case("no LE Meta event, whatever else is wrong", [0x05, 0x09]),
            Case("one byte", [0x3e], malformed: [.truncatedEvent]),
            Case("an event without a body", [0x3e, 0x00], malformed: [.truncatedEvent]),
            Case("an event without a count", [0x3e, 0x01, 0x02], malformed: [.truncatedEvent]),
            Case("an event cut short", Array(Packets.legacy(one).dropLast()), malformed: [.truncatedEvent]),
            Case("an event of no reports", Packets.legacy(), malformed: [.noReports]),
            Case(
                "fewer reports than announced", Packets.legacy(one, count: 2), minors: [1],
                malformed: [.truncatedReport]),
            Case(
                "more reports than announced", Packets.legacy(one, two, count: 1), minors: [1],
                malformed: [.trailingBytes]),
            Case("bytes behind the event", Packets.legacy(one) + [0], minors: [1], malformed: [.trailingBytes]),
            Case(
                "a report without its RSSI", Packets.legacy(Array(one.dropLast())), malformed: [.truncatedReport]),
            Case(
                "32 bytes of legacy data, and the report behind it",
                Packets.legacy(Packets.legacyReport(Packets.flags + Packets.beacon() + [0, 0]), two), minors: [2],
                malformed: [.oversizedData]),
            Case(
                "31 bytes of legacy data",
                Packets.legacy(Packets.legacyReport(Packets.flags + Packets.beacon(minor: 5) + [0])), minors: [5]),
            Case(
                "229 bytes of extended data",
                Packets.extended(
                    Packets.extendedReport(Packets.beacon(minor: 6) + [UInt8](repeating: 0, count: 202))), minors: [6]),
        ])
    func table(_ this: Case) {
        let parsed = parse(this.events)
        #expect(parsed.minors == this.minors)
        #expect(parsed.malformed == this.malformed)
    }

    @Test("a malformed event does not disturb the next one")
    func recovery() {
        let broken = Packets.legacy(Self.one)
        for length in 1..<broken.count {
            let parsed = parse([Array(broken.prefix(length)), Packets.legacy(Self.two)])
            #expect(parsed.minors == [2])
            #expect(parsed.malformed == [.truncatedEvent])
        }
    }

    @Test("the data behind a fragment is not searched: it starts in the middle of a structure")
    func fragments() {
        let events = [
            Packets.extended(Packets.extendedReport(Packets.beacon(minor: 1), type: 0x20)),
            Packets.extended(Packets.extendedReport(Packets.beacon(minor: 2), type: 0x20)),
            Packets.extended(Packets.extendedReport(Packets.beacon(minor: 3), address: Self.other)),
            Packets.extended(Packets.extendedReport(Packets.beacon(minor: 4), type: 0x00)),
            Packets.extended(Packets.extendedReport(Packets.beacon(minor: 5))),
        ]
        #expect(parse(events).minors == [1, 3, 5])
    }

    /// Event types: 0x20 more data comes, 0x00 the last data, 0x40 the rest is lost, 0x10 a legacy packet, which is whole.
    @Test func `Only data of the same advertising set continues, and no legacy packet does`() {
        func event(_ minor: UInt16, _ type: UInt16, set: UInt8 = 1, address: [UInt8] = Packets.address) -> [UInt8] {
            Packets.extended(
                Packets.extendedReport(Packets.beacon(minor: minor), type: type, address: address, set: set))
        }
        let rows: [(String, [[UInt8]], [UInt16])] = [
            (
                "a legacy packet between the fragments", [event(1, 0x20), event(2, 0x13, set: 0xff), event(3, 0x00)],
                [1, 2]
            ),
            (
                "a legacy packet with the same number", [event(1, 0x20), event(2, 0x1b), event(3, 0x20), event(4, 0)],
                [1, 2]
            ),
            ("another set of the address", [event(1, 0x20), event(2, 0x00, set: 2), event(3, 0x00)], [1, 2]),
            (
                "fragments of two sets in turns",
                [event(1, 0x20), event(2, 0x20, set: 2), event(3, 0), event(4, 0, set: 2)], [1, 2]
            ),
            (
                "of two addresses in turns",
                [event(1, 0x20), event(2, 0x20, address: Self.other), event(3, 0), event(4, 0, address: Self.other)],
                [1, 2]
            ),
            ("the rest of the data is lost", [event(1, 0x20), event(2, 0x40), event(3, 0x00)], [1, 3]),
            ("after the last fragment the next is whole", [event(1, 0x20), event(2, 0x00), event(3, 0x00)], [1, 3]),
        ]
        for (why, events, minors) in rows { #expect(parse(events).minors == minors, "\(why)") }
        let many = (0..<40).flatMap { [event(1, 0x20), event(100 + $0, 0x13, set: 0xff), event(3, 0x00)] }
        #expect(parse(many).minors.count == 80)
    }

    @Test func `Fragments of more sets than are remembered end no stream`() {
        let begins = (0..<9).map { set in
            Packets.extended(Packets.extendedReport(Packets.beacon(minor: 1), type: 0x20, set: UInt8(set)))
        }
        let ends = (0..<9).map { set in
            Packets.extended(Packets.extendedReport(Packets.beacon(minor: 2), type: 0x00, set: UInt8(set)))
        }
        let events = begins + ends + Array(begins.prefix(4)) + Array(ends.prefix(4))
        #expect(parse(events).minors.count { $0 == 1 } == 13)
    }

    @Test(
        "RSSI is what the controller says, unless it says nothing",
        arguments: [
            (Int8(-60), Int8?(-60)), (-127, -127), (-128, -127), (0, 0), (20, 20), (21, nil), (62, nil), (127, nil),
        ])
    func strength(reported: Int8, expected: Int8?) {
        #expect(parse([Packets.legacy(Packets.legacyReport(Packets.beacon(), rssi: reported))]).rssi == [expected])
        #expect(
            parse([Packets.extended(Packets.extendedReport(Packets.beacon(), rssi: reported))]).rssi == [expected])
    }

    @Test("the address is read in the order of the air and printed in that of people")
    func address() throws {
        var found: DeviceAddress?
        var parser = AdvertisingReportParser()
        parser.parse(event: Packets.legacy(Self.one).span) { report, _ in found = report.address }
        let address = try #require(found)
        #expect(address.description == "C0:FF:EE:00:00:01")
        #expect(address.isRandom)
    }
}
