import Base
import TestSupport
import Testing

@testable import Beacon

/// Tags that send their battery in a byte behind the iBeacon (sandeepmistry/node-bleacon, pull request 21), or beside it.
@Suite struct TrailingBatteryTests {
    /// The packet of the pull request: battery 0x4E.
    private static let easiBeacon =
        "02 01 04 1B FF 4C 00 02 15 A7 AE 2E B7 1F 00 41 68 B9 9B A7 49 BA C1 CA 64 00 01 00 01 BB 4E"
    private static let uuid = BeaconUUID(high: 0xa7ae_2eb7_1f00_4168, low: 0xb99b_a749_bac1_ca64)

    /// What a decoder makes of one packet.
    private func decode(
        _ data: [UInt8], _ masks: [BatteryMask] = []
    ) -> (beacon: BeaconID?, readings: [BeaconTelemetry], malformed: MalformedCounters) {
        var decoder = BeaconDecoder()
        decoder.masks = BatteryMasks(masks)
        var readings: [BeaconTelemetry] = []
        let report = AdvertisingReport(address: DeviceAddress(value: 1, isRandom: true), rssi: nil)
        let sighting = decoder.sighting(in: data.span, of: report, by: Receiver(index: 0), at: .zero) {
            readings.append($0)
        }
        return (sighting?.beacon, readings, decoder.malformed)
    }

    private func packet(_ more: [UInt8], hasFlags: Bool = true) -> [UInt8] {
        (hasFlags ? Packets.flags : []) + [UInt8(0x1a + more.count), 0xff] + Packets.frame() + more
    }

    @Test func `The published packet is an iBeacon with its battery, which is certain only if the UUID is named`() {
        let bytes = TelemetryTests.bytes(Self.easiBeacon)
        let heard = decode(bytes)
        #expect(heard.beacon == BeaconID(uuid: Self.uuid, major: 1, minor: 1))
        #expect(heard.readings.map(\.battery.level) == [78])
        #expect(heard.readings.map(\.isCertain) == [false])
        #expect(heard.malformed.total == 0)
        let named = decode(bytes, [BatteryMask(uuid: Self.uuid, major: 0, minor: 0)])
        #expect(named.readings.map(\.isCertain) == [true])
        let all = decode(bytes, [BatteryMask(uuid: nil, major: 0, minor: 0xff00)])
        #expect(all.readings.filter { $0.battery.level == 78 }.map(\.isCertain) == [false])
    }

    @Test(arguments: [(0, nil), (1, 1), (100, 100), (101, nil), (255, nil)] as [(UInt8, UInt8?)], [true, false])
    func `From 1 to 100 the byte is shown, and the beacon is heard with any`(
        row: (byte: UInt8, level: UInt8?), hasFlags: Bool
    ) {
        let heard = decode(packet([row.byte], hasFlags: hasFlags))
        #expect(heard.beacon == BeaconID(uuid: Packets.uuid, major: 1, minor: 7))
        #expect(heard.readings.map(\.battery.level) == [row.level].compactMap(\.self))
        #expect(heard.malformed.total == 0)
    }

    @Test func `Two bytes more, or one less, are no iBeacon, and are counted by their kind`() {
        #expect(decode(packet([50, 50])).beacon == nil)
        #expect(decode(packet([50, 50])).malformed.text == "1 malformed: 1 inexact-beacon")
        let short = Packets.flags + [0x19, 0xff] + Packets.frame().dropLast()
        #expect(decode(short).beacon == nil)
        #expect(decode(short).malformed[.inexactBeacon] == 1)
        #expect(MalformedCounters().text == "0 malformed")
    }

    /// The packets are those of test_jaalee.py and test_holyiot.py of custom-components/ble_monitor, without their headers.
    @Test func `Telemetry in the packet of the iBeacon is that of the iBeacon`() {
        let jaalee = decode(
            TelemetryTests.bytes(
                "020104 1BFF4C000215EBEFD08370A247C89837E7B5634DF525632E5535CC64 03031CF5 0F161CF56465E6AA4CB0C801632E5535"
            ))
        #expect(jaalee.beacon?.major == 0x632e)
        #expect(jaalee.readings.map(\.isCertain) == [false, true])
        #expect(jaalee.readings.map(\.battery.level) == [100, 100])
        let holyiot = decode(
            TelemetryTests.bytes(
                "020106 1AFF4C0002159976AED5F58C49AF85EBD0AC7281E3F6271B4CB924 0D0962696E2D747261636B657200 "
                    + "101642524164C6B545F6F18E060601ED25"))
        #expect(holyiot.readings.map(\.battery.level) == [100])
        #expect(holyiot.readings.first?.beacon == holyiot.beacon)
    }
}
