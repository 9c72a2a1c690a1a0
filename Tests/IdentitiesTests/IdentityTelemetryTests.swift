import Base
import Beacon
import TestSupport
import Testing

@testable import Identities

/// Batteries of what is no iBeacon.
@Suite struct IdentityTelemetryTests {
    private static let receiver = Receiver(index: 0)
    private static let address: UInt64 = 0xc0ff_ee00_0001
    /// Eddystone-TLM with 3,000 mV and 21 °C, from reelyactive/advlib-ble-services.
    private static let telemetry: [UInt8] = [
        0x11, 0x16, 0xaa, 0xfe, 0x20, 0, 0x0b, 0xb8, 0x15, 0, 0, 0, 0, 0x45, 0, 0, 0x02, 0x58,
    ]
    private static let eddystone = octets(IdentityFrameTests.eddystoneExample)
    private static let altBeacon = octets(IdentityFrameTests.altBeaconExample)
    private static let flags: [UInt8] = [0x02, 0x01, 0x06]

    private static func identity(of packet: [UInt8]) throws -> Identity {
        let frame = IdentityFrame(advertisingData: packet.span)
        return try #require(frame).identity
    }

    /// What is told of packets that come each second.
    private func told(
        _ packets: [[UInt8]], _ identities: [Identity], from addresses: [UInt64] = [address]
    ) -> [BeaconTelemetry] {
        var resolver = IdentityResolver()
        resolver.setIdentities(identities)
        var told: [BeaconTelemetry] = []
        for (second, packet) in packets.enumerated() {
            let now = MonotonicInstant(nanoseconds: Int64(second) * 1_000_000_000)
            let report = AdvertisingReport(
                address: DeviceAddress(value: addresses[second % addresses.count], isRandom: true),
                rssi: RSSI(reported: -70))
            let sender = resolver.sender(of: report, data: packet.span, by: Self.receiver, at: now)
            let frame = resolver.frame(in: packet.span, of: report, by: Self.receiver)
            resolver.telemetry(in: packet.span, of: report, by: Self.receiver, sender: sender, frame: frame, at: now) {
                told.append($0)
            }
        }
        return told
    }

    @Test func `A fixed address gets every reading from it`() {
        let told = told([Self.flags, Self.telemetry, Self.telemetry], [.address(Self.address)])
        #expect(told.map(\.beacon.uuid) == [Identity.address(Self.address).uuid, Identity.address(Self.address).uuid])
        #expect(told.map(\.battery.millivolts) == [3000, 3000])
        #expect(told.allSatisfy { $0.temperature == 21 && $0.isCertain })
        #expect(self.told([Self.telemetry], [.address(Self.address)], from: [Self.address + 1]).isEmpty)
    }

    @Test func `Telemetry between two frames of its sender is theirs, for an Eddystone-UID and an AltBeacon`() throws {
        for frame in [Self.eddystone, Self.altBeacon] {
            let identity = try Self.identity(of: frame)
            let told = told([frame, Self.telemetry, frame, Self.telemetry, frame, frame], [identity])
            #expect(told.map(\.beacon.uuid) == [identity.uuid])
            #expect(told.map(\.battery.millivolts) == [3000])
            #expect(self.told([Self.telemetry, frame], [identity]).isEmpty, "nothing was heard of the address before")
            #expect(
                self.told([frame, Self.telemetry, frame, Self.telemetry, frame], [identity], from: [1, 2]).isEmpty,
                "another address")
        }
    }

    @Test func `A device that sends both frames, and has a region of its address, gives each its reading`() throws {
        let identities = [
            try Self.identity(of: Self.eddystone), try Self.identity(of: Self.altBeacon), .address(Self.address),
        ]
        let told = told(
            [
                Self.eddystone, Self.altBeacon, Self.telemetry, Self.eddystone, Self.altBeacon, Self.telemetry,
                Self.eddystone,
                Self.altBeacon,
            ], identities)
        #expect(Set(told.map(\.beacon.uuid)) == Set(identities.map(\.uuid)))
        #expect(told.count == 4, "the address also gets the first reading")
    }

    @Test func `Telemetry in the packet of the frame is that of the frame`() throws {
        let told = told([Self.altBeacon + Self.telemetry], [try Self.identity(of: Self.altBeacon)])
        #expect(told.map(\.battery.millivolts) == [3000])
    }

    @Test func `Without a region of it nothing is told, and nothing is kept`() throws {
        #expect(told([Self.eddystone, Self.telemetry, Self.eddystone, Self.telemetry, Self.eddystone], []).isEmpty)
        #expect(
            told(
                [Self.eddystone, Self.telemetry, Self.eddystone, Self.telemetry, Self.eddystone],
                [try Self.identity(of: Self.altBeacon)]
            ).isEmpty)
    }
}
