import TestSupport

@testable import Beacon

/// Packets put together from their parts, for tests that are about one of them.
enum Packets {
    static let uuid = BeaconUUID(high: 0xca27_1eae_5fa8_4e80, low: 0x8f08_2a30_2a95_a959)
    static let flags: [UInt8] = [0x02, 0x01, 0x06]
    static let address: [UInt8] = [0x01, 0x00, 0x00, 0xee, 0xff, 0xc0]

    /// An iBeacon structure with its AD length and type.
    static func beacon(major: UInt16 = 1, minor: UInt16 = 7, power: Int8 = -59) -> [UInt8] {
        [0x1a, 0xff] + frame(major: major, minor: minor, power: power)
    }

    /// The manufacturer specific data of an iBeacon, company identifier included.
    static func frame(major: UInt16 = 1, minor: UInt16 = 7, power: Int8 = -59) -> [UInt8] {
        packet(
            [0x4c, 0x00, 0x02, 0x15], bigEndianBytes(uuid.high), bigEndianBytes(uuid.low), bigEndianBytes(major),
            bigEndianBytes(minor), [UInt8(bitPattern: power)])
    }

    static func legacyReport(_ data: [UInt8], rssi: Int8 = -60, address: [UInt8] = address) -> [UInt8] {
        packet([0x03, 0x01], address, [UInt8(data.count)], data, [UInt8(bitPattern: rssi)])
    }

    /// An extended report. Bit 5 of the event type says that more data comes.
    static func extendedReport(
        _ data: [UInt8], rssi: Int8 = -60, type: UInt16 = 0x10, address: [UInt8] = address, set: UInt8 = 0xff
    ) -> [UInt8] {
        packet(
            [UInt8(type & 255), UInt8(type >> 8), 0x01], address, [1, 0, set, 0x7f, UInt8(bitPattern: rssi)],
            [0, 0, 0, 0, 0, 0, 0, 0, 0], [UInt8(data.count)], data)
    }

    /// An LE Meta event. `count` is what it says of the number of its reports, if it lies.
    static func event(_ subevent: UInt8, _ reports: [[UInt8]], count: UInt8? = nil) -> [UInt8] {
        let body = [subevent, count ?? UInt8(reports.count)] + reports.flatMap(\.self)
        return [0x3e, UInt8(body.count)] + body
    }

    static func legacy(_ reports: [UInt8]..., count: UInt8? = nil) -> [UInt8] { event(0x02, reports, count: count) }
    static func extended(_ reports: [UInt8]..., count: UInt8? = nil) -> [UInt8] { event(0x0d, reports, count: count) }
}

/// What came of an event.
struct Parsed {
    var rssi: [Int8?] = []
    var data: [[UInt8]] = []
    var minors: [UInt16] = []
    /// Of the parser and of the frames together.
    var malformed: [MalformedKind] = []
}

/// Gives events to one parser, in their order.
func parse(_ events: [[UInt8]]) -> Parsed {
    var parser = AdvertisingReportParser()
    var parsed = Parsed()
    var inFrames = MalformedCounters()
    for event in events {
        parser.parse(event: event.span) { report, data in
            parsed.rssi.append(report.rssi?.dBm)
            parsed.data.append((0..<data.count).map { data[$0] })
            if let beacon = IBeacon(advertisingData: data, malformed: &inFrames) {
                parsed.minors.append(beacon.id.minor)
            }
        }
    }
    for kind in MalformedKind.allCases {
        for _ in 0..<parser.malformed[kind] + inFrames[kind] { parsed.malformed.append(kind) }
    }
    return parsed
}
