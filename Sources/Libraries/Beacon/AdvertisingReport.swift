import Base

/// A Bluetooth device address with its kind, for display, captures, the scanners and `TelemetryJoiner`. Presence does
/// not depend on it, because beacons rotate their addresses.
package struct DeviceAddress: Hashable, Sendable, BitwiseCopyable {
    /// The six octets as one number, the most significant (printed first) octet highest.
    package let value: UInt64
    /// False for a public (IEEE) address.
    package let isRandom: Bool

    package init(value: UInt64, isRandom: Bool) {
        self.value = value & 0xffff_ffff_ffff
        self.isRandom = isRandom
    }

    /// Reads six octets in the order of the air: least significant first.
    ///
    /// - Returns: nil if fewer than six octets follow `offset`.
    package init?(littleEndian bytes: Span<UInt8>, at offset: Int, isRandom: Bool) {
        guard offset >= 0, bytes.count >= 6, offset <= bytes.count - 6 else { return nil }
        let low = bytes.littleEndian(UInt32.self, at: offset)
        let high = bytes.littleEndian(UInt16.self, at: offset + 4)
        self.init(value: UInt64(high) << 32 | UInt64(low), isRandom: isRandom)
    }
}

extension DeviceAddress: CustomStringConvertible {
    package var description: String {
        (0..<6).map { hexadecimal(UInt8(truncatingIfNeeded: value >> UInt64(40 - 8 * $0))) }.joined(separator: ":")
    }
}

/// What a controller says about one advertising packet. The packet's own bytes are passed beside it as a span, so that
/// nothing is copied.
package struct AdvertisingReport: Hashable, Sendable, BitwiseCopyable {
    package let address: DeviceAddress
    package let rssi: RSSI?

    package init(address: DeviceAddress, rssi: RSSI?) {
        self.address = address
        self.rssi = rssi
    }
}
