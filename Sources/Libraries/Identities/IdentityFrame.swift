package import Beacon

/// A frame that names its sender and is no iBeacon.
package struct IdentityFrame: Hashable, Sendable, BitwiseCopyable {
    package let identity: Identity
    /// 0 for an Eddystone-UID.
    package let major: UInt16
    /// 0 for an Eddystone-UID.
    package let minor: UInt16
    package let measuredPower: MeasuredPower

    /// Finds the first frame in one advertising packet that is whole and exact.
    package init?(advertisingData data: Span<UInt8>) {
        var found: IdentityFrame?
        AdvertisingData.forEachStructure(in: data) { type, content in
            switch type {
            case AdvertisingData.serviceData16: found = IdentityFrame(eddystone: content)
            case AdvertisingData.manufacturerSpecificData: found = IdentityFrame(altBeacon: content)
            default: break
            }
            return found == nil
        }
        guard let found else { return nil }
        self = found
    }

    /// Eddystone-UID (github.com/google/eddystone, `eddystone-uid`): service data of 0xFEAA, frame type 0x00, power at 0 m,
    /// ten bytes of namespace, six of instance, and two reserved bytes that some beacons leave out.
    private init?(eddystone content: Span<UInt8>) {
        guard content.count == 20 || content.count == 22, content.littleEndian(UInt16.self, at: 0) == 0xfeaa,
            content[2] == 0x00
        else { return nil }
        identity = .eddystone(Self.sixteen(content, at: 4))
        (major, minor) = (0, 0)
        // "The path loss over one metre is 41 dBm": eddystone-uid, Tx Power.
        measuredPower = MeasuredPower(dBm: Int8(clamping: Int(Int8(bitPattern: content[3])) - 41))
    }

    /// AltBeacon (github.com/AltBeacon/spec): any company, 0xBEAC, 20 bytes of identifier, power at 1 m, one byte of the
    /// company.
    private init?(altBeacon content: Span<UInt8>) {
        guard content.count == 26, content.bigEndian(UInt16.self, at: 2) == 0xbeac else { return nil }
        identity = .altBeacon(Self.sixteen(content, at: 4))
        major = content.bigEndian(UInt16.self, at: 20)
        minor = content.bigEndian(UInt16.self, at: 22)
        measuredPower = MeasuredPower(dBm: Int8(bitPattern: content[24]))
    }

    private static func sixteen(_ content: Span<UInt8>, at offset: Int) -> BeaconUUID {
        BeaconUUID(
            high: content.bigEndian(UInt64.self, at: offset), low: content.bigEndian(UInt64.self, at: offset + 8))
    }
}

extension IdentityFrame: CustomStringConvertible {
    /// What a description of a region has behind the name.
    package var description: String {
        if case .altBeacon = identity { "\(identity.text):\(major):\(minor)" } else { identity.text }
    }
}
