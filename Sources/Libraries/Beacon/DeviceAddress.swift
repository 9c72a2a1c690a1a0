import Base

/// A Bluetooth device address with its kind, for display, captures, the scanners and `TelemetryJoiner`. Presence does
/// not depend on it, because beacons rotate their addresses.
public struct DeviceAddress: Hashable, Sendable, BitwiseCopyable {
    /// The six octets as one number, the most significant (printed first) octet highest.
    public let value: UInt64
    /// False for a public (IEEE) address.
    public let isRandom: Bool

    /// - Parameters:
    ///   - value: The six octets as one number. Bits above the 48th are cleared.
    ///   - isRandom: False for a public address.
    public init(value: UInt64, isRandom: Bool) {
        self.value = value & 0xffff_ffff_ffff
        self.isRandom = isRandom
    }

    /// Reads six octets in the order of the air: least significant first.
    ///
    /// - Returns: nil if fewer than six octets follow `offset`.
    public init?(littleEndian bytes: Span<UInt8>, at offset: Int, isRandom: Bool) {
        guard offset >= 0, bytes.count >= 6, offset <= bytes.count - 6 else { return nil }
        let low = bytes.littleEndian(UInt32.self, at: offset)
        let high = bytes.littleEndian(UInt16.self, at: offset + 4)
        self.init(value: UInt64(high) << 32 | UInt64(low), isRandom: isRandom)
    }
}

extension DeviceAddress: CustomStringConvertible {
    /// Six octets in upper case, the most significant first: `D1:22:33:44:55:66`.
    public var description: String {
        (0..<6).map { hexadecimal(UInt8(truncatingIfNeeded: value >> UInt64(40 - 8 * $0))) }.joined(separator: ":")
    }
}
