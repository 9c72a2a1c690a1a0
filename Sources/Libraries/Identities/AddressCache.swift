import Beacon

/// The owners of the addresses that were heard lately, those without an owner included. Any transmitter can invent
/// addresses, so their number is bounded. Nothing is allocated after `clear`.
struct AddressCache {
    /// Addresses that are remembered, in sets of `ways`: those of 3,000 devices nearly without a collision.
    static let capacity = setCount * ways
    /// Indices of owners lie below it.
    static let mostOwners = 1 << 14 - 1
    private static let setBits = 12
    private static let setCount = 1 << setBits
    private static let ways = 4

    /// An address, whether it is random (bit 48), the owner's index + 1 (from bit 49), and bit 63; 0 is empty.
    private var sets: [SIMD4<UInt64>] = []
    /// The way that the next new address takes, in every set.
    private var next = 0
    /// Odd and random, so that no sender can choose addresses that share a set.
    private let key = UInt64.random(in: .min ... .max) | 1

    private static let deviceMask: UInt64 = 1 << 63 | (1 << 49 - 1)

    private static func device(_ address: DeviceAddress) -> UInt64 {
        1 << 63 | (address.isRandom ? 1 << 48 : 0) | address.value
    }

    private func set(of device: UInt64) -> Int {
        Int(truncatingIfNeeded: (device &* key) >> UInt64(64 - Self.setBits))
    }

    /// The index of the owner.
    ///
    /// - Returns: nil if the address is not remembered; `.some(nil)` if it is known to have no owner.
    @inline(__always)
    func owner(of address: DeviceAddress) -> Int?? {
        let device = Self.device(address)
        let entries = sets[set(of: device)]
        // Without a branch for each way: a processor cannot predict in which way an address is. At most one way has it.
        var found: UInt64 = 0
        for way in 0..<Self.ways { found |= entries[way] & Self.deviceMask == device ? entries[way] : 0 }
        guard found != 0 else { return nil }
        let owner = Int(truncatingIfNeeded: found >> 49 & 0x3fff)
        return .some(owner == 0 ? nil : owner - 1)
    }

    /// Remembers a new address in the place of an older one.
    mutating func insert(_ address: DeviceAddress, owner: Int?) {
        let device = Self.device(address)
        sets[set(of: device)][next] = device | UInt64(owner.map { $0 + 1 } ?? 0) << 49
        next = (next + 1) % Self.ways
    }

    /// Forgets all addresses, and takes the memory for new ones: 128 KiB. Without it the cache must not be asked.
    mutating func clear() { sets = [SIMD4<UInt64>](repeating: .zero, count: Self.setCount) }
}
