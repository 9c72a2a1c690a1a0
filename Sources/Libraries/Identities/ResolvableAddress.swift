package import Beacon

/// The random part and the hash of a resolvable private address (Core Specification 5.4, Vol 6, Part B, 1.3.2.2).
package struct ResolvableAddress: Hashable, Sendable, BitwiseCopyable {
    /// 24 bits, the upper two of them 01.
    package let random: UInt32
    /// 24 bits.
    package let hash: UInt32

    /// - Returns: nil for an address of another kind.
    package init?(_ address: DeviceAddress) {
        guard address.isRandom, address.value >> 46 == 0b01 else { return nil }
        random = UInt32(truncatingIfNeeded: address.value >> 24)
        hash = UInt32(truncatingIfNeeded: address.value & 0xff_ffff)
    }
}
