import Base
import Testing

@testable import Beacon

@Suite("Bits of major and minor may be the battery of a tag")
struct BatteryMaskTests {
    private static func beacon(_ major: UInt16, _ minor: UInt16) -> BeaconID {
        BeaconID(uuid: Packets.uuid, major: major, minor: minor)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let major: UInt16
        let minor: UInt16
        let of: (major: UInt16, minor: UInt16)
        let level: UInt8?
        let cleared: (major: UInt16, minor: UInt16)

        init(
            _ what: String, _ major: UInt16, _ minor: UInt16, of: (UInt16, UInt16), level: UInt8?,
            cleared: (UInt16, UInt16)
        ) {
            (testDescription, self.major, self.minor, self.of) = (what, major, minor, of)
            (self.level, self.cleared) = (level, cleared)
        }
    }

    @Test(arguments: [
        Case("the low byte of minor", 0, 0x00ff, of: (1, 0x0757), level: 87, cleared: (1, 0x0700)),
        Case("the high byte of major", 0xff00, 0, of: (0x5701, 7), level: 87, cleared: (1, 7)),
        Case("all of minor", 0, 0xffff, of: (1, 100), level: 100, cleared: (1, 0)),
        Case("above 100 % it means something else", 0, 0x00ff, of: (1, 0x07ff), level: nil, cleared: (1, 0x0700)),
        Case("seven bits are per cent", 0, 0x007f, of: (1, 0x0164), level: 100, cleared: (1, 0x0100)),
        Case("four bits are a share of 15", 0, 0x000f, of: (1, 0x0018), level: 53, cleared: (1, 0x0010)),
        Case("one bit is empty or full", 0, 0x8000, of: (1, 0x8001), level: 100, cleared: (1, 1)),
        Case("across the two", 0x000f, 0xf000, of: (0x0035, 0x7001), level: 87, cleared: (0x0030, 1)),
        Case("apart from each other", 0, 0xf00f, of: (1, 0x5121), level: nil, cleared: (1, 0x0120)),
        Case("in major and minor", 0xff00, 0x00ff, of: (0x5701, 0x0757), level: nil, cleared: (1, 0x0700)),
    ])
    func table(_ this: Case) {
        let mask = BatteryMask(uuid: nil, major: this.major, minor: this.minor)
        let beacon = Self.beacon(this.of.major, this.of.minor)
        #expect(mask.level(of: beacon) == this.level)
        #expect(mask.cleared(beacon) == Self.beacon(this.cleared.major, this.cleared.minor))
    }

    @Test(
        arguments: [
            (0x64, 100, 0x00), (0x01, 1, 0x00), (0x65, nil, 0x00),
        ] as [(UInt64, UInt8?, UInt64)])
    func `The last byte of the UUID may be the battery`(byte: UInt64, level: UInt8?, cleared: UInt64) {
        let uuid = BeaconUUID(high: 1, low: 0x7700 | byte)
        let mask = BatteryMask(
            uuid: BeaconUUID(high: 1, low: 0x7733), major: 0, minor: 0, uuidBits: BeaconUUID(high: 0, low: 0xff))
        let beacon = BeaconID(uuid: uuid, major: 5, minor: 6)
        #expect(mask.level(of: beacon) == level)
        #expect(mask.cleared(beacon) == BeaconID(uuid: BeaconUUID(high: 1, low: 0x7700 | cleared), major: 5, minor: 6))
        #expect(BatteryMasks([mask])[uuid] == mask)
        #expect(BatteryMasks([mask])[BeaconUUID(high: 1, low: 0x7800 | byte)] == nil)
    }

    @Test func `Bits of the UUID may lie anywhere in it, and are a number only alone`() {
        let high = BatteryMask(uuid: Packets.uuid, major: 0, minor: 0, uuidBits: BeaconUUID(high: 0x7f00, low: 0))
        #expect(high.level(of: BeaconID(uuid: BeaconUUID(high: 0x3200, low: 0), major: 0, minor: 0)) == 50)
        let across = BatteryMask(
            uuid: Packets.uuid, major: 0, minor: 0, uuidBits: BeaconUUID(high: 0xf, low: 0xf << 60))
        #expect(across.level(of: BeaconID(uuid: BeaconUUID(high: 0x6, low: 0x4 << 60), major: 0, minor: 0)) == 100)
        let apart = BatteryMask(uuid: Packets.uuid, major: 0, minor: 0, uuidBits: BeaconUUID(high: 1, low: 1))
        #expect(!apart.isContiguous)
        let both = BatteryMask(uuid: Packets.uuid, major: 0xff00, minor: 0, uuidBits: BeaconUUID(high: 0, low: 0xff))
        #expect(!both.isContiguous && !both.isEmpty)
        #expect(BatteryMask(uuid: Packets.uuid, major: 0, minor: 0).isEmpty)
    }

    @Test("the mask of a UUID counts before the mask of all beacons")
    func choice() {
        let own = BatteryMask(uuid: Packets.uuid, major: 0, minor: 0xff)
        let all = BatteryMask(uuid: nil, major: 0, minor: 0xff00)
        let other = BeaconUUID(high: 1, low: 2)
        #expect(BatteryMasks([all, own])[Packets.uuid] == own)
        #expect(BatteryMasks([all, own])[other] == all)
        #expect(BatteryMasks([own])[other] == nil)
    }

    /// What a decoder makes of packets.
    private static func decode(_ minors: [UInt16], _ masks: [BatteryMask]) -> (beacons: [UInt16], levels: [UInt8]) {
        var decoder = BeaconDecoder()
        decoder.masks = BatteryMasks(masks)
        var (beacons, levels): ([UInt16], [UInt8]) = ([], [])
        for minor in minors {
            let data = Packets.beacon(minor: minor)
            let report = AdvertisingReport(address: DeviceAddress(value: 1, isRandom: true), rssi: nil)
            let sighting = decoder.sighting(in: data.span, of: report, by: Receiver(index: 0), at: .zero) {
                levels.append($0.battery.percent)
            }
            if let sighting { beacons.append(sighting.beacon.minor) }
        }
        return (beacons, levels)
    }

    @Test("the identity of a tag does not change with its battery")
    func identity() {
        let masked = Self.decode([0x0164, 0x0150, 0x010a], [BatteryMask(uuid: Packets.uuid, major: 0, minor: 0xff)])
        #expect(masked.beacons == [0x0100, 0x0100, 0x0100])
        #expect(masked.levels == [100, 80, 10])
        let other = Self.decode([0x0164], [BatteryMask(uuid: BeaconUUID(high: 1, low: 2), major: 0, minor: 0xff)])
        #expect(other.beacons == [0x0164] && other.levels.isEmpty)
    }
}
