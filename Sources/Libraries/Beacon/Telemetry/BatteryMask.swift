/// The bits of UUID, major and minor in which tags send their battery.
///
/// These bits are cleared before anything is decided by the numbers, so that the identity of a tag does not change with its
/// battery.
public struct BatteryMask: Hashable, Sendable, BitwiseCopyable {
    /// nil for all beacons to which no other mask applies.
    public let uuid: BeaconUUID?
    /// The bits of the battery in the UUID.
    public let uuidBits: BeaconUUID
    /// The bits of the battery in the major.
    public let major: UInt16
    /// The bits of the battery in the minor.
    public let minor: UInt16

    /// A mask of these bits. Bits of the UUID need a UUID: which tags are meant is known by the other bits.
    public init(uuid: BeaconUUID?, major: UInt16, minor: UInt16, uuidBits: BeaconUUID) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
        self.uuidBits = uuidBits
    }

    /// A mask of bits of major and minor.
    public init(uuid: BeaconUUID?, major: UInt16, minor: UInt16) {
        self.init(uuid: uuid, major: major, minor: minor, uuidBits: BeaconUUID(high: 0, low: 0))
    }

    /// From this width on, the number in the bits is the level in per cent, because 100 fits into it.
    private static let percentWidth = 7

    /// Major and minor as one number.
    private var bits: UInt32 { UInt32(major) << 16 | UInt32(minor) }

    private var hasUUIDBits: Bool { uuidBits.high | uuidBits.low != 0 }

    /// Whether it clears no bit: it only names tags.
    package var isEmpty: Bool { bits == 0 && !hasUUIDBits }

    /// Whether the bits are adjacent, so that they form a number. The lowest bit of major is adjacent to the highest
    /// bit of minor. Bits of the UUID are adjacent to no others.
    package var isContiguous: Bool {
        hasUUIDBits ? bits == 0 && Self.isContiguous(uuidBits.number) : Self.isContiguous(bits)
    }

    private static func isContiguous<Number: FixedWidthInteger & UnsignedInteger>(_ bits: Number) -> Bool {
        let low = bits >> Number(bits.trailingZeroBitCount)
        return bits != 0 && low & (low &+ 1) == 0
    }

    /// Per cent, 0 … 100, from the bits of this beacon: their number or, if 100 does not fit into them, its share of
    /// the largest number; nil if the bits are not adjacent, or if the number is above 100.
    package func level(of beacon: BeaconID) -> UInt8? {
        guard isContiguous else { return nil }
        guard !hasUUIDBits else { return Self.level(in: beacon.uuid.number, bits: uuidBits.number) }
        return Self.level(in: UInt32(beacon.major) << 16 | UInt32(beacon.minor), bits: bits)
    }

    /// - Parameter bits: Adjacent.
    private static func level<Number: FixedWidthInteger & UnsignedInteger>(in value: Number, bits: Number) -> UInt8? {
        let number = (value & bits) >> Number(bits.trailingZeroBitCount)
        guard bits.nonzeroBitCount < percentWidth else { return number <= 100 ? UInt8(number) : nil }
        let largest = bits >> Number(bits.trailingZeroBitCount)
        return UInt8((number * 100 + largest / 2) / largest)
    }

    package func cleared(_ beacon: BeaconID) -> BeaconID {
        BeaconID(uuid: cleared(beacon.uuid), major: beacon.major & ~major, minor: beacon.minor & ~minor)
    }

    package func cleared(_ uuid: BeaconUUID) -> BeaconUUID {
        BeaconUUID(high: uuid.high & ~uuidBits.high, low: uuid.low & ~uuidBits.low)
    }

    /// Whether tags of this UUID are named by that of the mask.
    func names(_ uuid: BeaconUUID) -> Bool { self.uuid.map { cleared($0) == cleared(uuid) } ?? false }
}

extension BeaconUUID {
    /// All sixteen bytes as one number.
    fileprivate var number: UInt128 { UInt128(high) << 64 | UInt128(low) }
}
