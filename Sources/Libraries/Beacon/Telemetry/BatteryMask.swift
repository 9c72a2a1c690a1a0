/// The bits of major and minor in which the tags of a UUID send their battery.
///
/// These bits are cleared before anything is decided by major and minor, so that the identity of a tag does not change
/// with its battery.
public struct BatteryMask: Hashable, Sendable, BitwiseCopyable {
    /// nil for all beacons to which no other mask applies.
    public let uuid: BeaconUUID?
    /// The bits of the battery in the major.
    public let major: UInt16
    /// The bits of the battery in the minor.
    public let minor: UInt16

    /// A mask of these bits.
    public init(uuid: BeaconUUID?, major: UInt16, minor: UInt16) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
    }

    /// From this width on, the number in the bits is the level in per cent, because 100 fits into it.
    private static let percentWidth = 7

    /// Major and minor as one number.
    private var bits: UInt32 { UInt32(major) << 16 | UInt32(minor) }

    /// Whether the bits are adjacent, so that they form a number. The lowest bit of major is adjacent to the highest
    /// bit of minor.
    package var isContiguous: Bool {
        let low = bits >> UInt32(bits.trailingZeroBitCount)
        return bits != 0 && low & (low &+ 1) == 0
    }

    /// Per cent, 0 … 100, from the bits of this beacon: their number or, if 100 does not fit into them, its share of
    /// the largest number; nil if the bits are not adjacent, or if the number is above 100.
    package func level(of beacon: BeaconID) -> UInt8? {
        guard isContiguous else { return nil }
        let value = (UInt32(beacon.major) << 16 | UInt32(beacon.minor)) & bits
        let number = value >> UInt32(bits.trailingZeroBitCount)
        guard bits.nonzeroBitCount < Self.percentWidth else { return number <= 100 ? UInt8(number) : nil }
        let largest = bits >> UInt32(bits.trailingZeroBitCount)
        return UInt8((number * 100 + largest / 2) / largest)
    }

    package func cleared(_ beacon: BeaconID) -> BeaconID {
        BeaconID(uuid: beacon.uuid, major: beacon.major & ~major, minor: beacon.minor & ~minor)
    }
}

/// The masks of all UUIDs.
public struct BatteryMasks: Hashable, Sendable {
    /// In the order in which they were set.
    package let all: [BatteryMask]

    /// - Parameter all: At most one for each UUID, and at most one without a UUID.
    public init(_ all: [BatteryMask] = []) { self.all = all }

    /// The mask for beacons of this UUID; nil if none applies.
    package subscript(uuid: BeaconUUID) -> BatteryMask? {
        all.first { $0.uuid == uuid } ?? all.first { $0.uuid == nil }
    }
}
