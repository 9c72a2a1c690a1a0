import Base
import Beacon
import Identities
import Regions
import Testing

@testable import Tools

/// What `scan` says of a beacon.
@Suite struct ScanTableTests {
    private static let uuid = "CA271EAE-5FA8-4E80-8F08-2A302A95A959"

    private func region(_ name: String, radius: Double = 0) throws -> Region {
        let description = try RegionDescription(parsing: "\(name):\(Self.uuid):1:7")
        return Region(rid: name, description: description, timestamp: 1, radius: radius)
    }

    @Test func `A beacon is in the regions that listen for it, and in no circle with its UUID`() throws {
        let regions = [try region("Keys"), try region("Home", radius: 50), try region("+follow")]
        var table = ScanTable(
            regions: regions, masks: BatteryMasks(), resolver: IdentityResolver(), includesOthers: false)
        let uuid = try #require(BeaconUUID(Self.uuid))
        let bytes = [uuid.high, uuid.low].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
        }
        let packet: [UInt8] = [2, 1, 6, 26, 0xff, 0x4c, 0, 2, 21] + bytes + [0, 1, 0, 7, 0xc5]
        let report = AdvertisingReport(
            address: DeviceAddress(value: 1, isRandom: true), rssi: RSSI(reported: -60))
        let now = MonotonicInstant(nanoseconds: 1)
        table.heard(report, data: packet.span, by: Receiver(index: 0), at: now)
        let lines = table.json(after: .zero, at: now)
        #expect(lines.count == 1 && lines.first?.contains(#""regions":["Keys"]"#) == true, "\(lines)")
    }
}
