import Beacon

/// A beacon that matches a region.
///
/// Most beacons have one receiver and one region. These are stored here and not in the engine's lists, so that a
/// sighting reads one piece of memory and not three that point to one another.
struct TrackedBeacon: Sendable, BitwiseCopyable {
    let beacon: BeaconID
    /// How many regions it makes occupied.
    var nearCount: UInt16 = 0
    /// The queued deadline, in nanoseconds, not after the first that is due; `.max` if none is queued.
    var queued: Int64 = .max
    /// The first of its links; a tracked beacon has at least one.
    var ownLink: Link
    /// The first of its regions; `.none`: the beacon matches no region since the regions changed.
    var ownMembership: RegionPresence
    /// The position of its joint model, in the engine's list; −1: it has none.
    var joint: Int32 = -1

    /// The position of the link and the membership that are stored in the beacon itself.
    static var own: Int { Int(Int32.max) }

    /// Where its chain of links begins.
    var link: Int { Self.own }
    /// Where its chain of regions begins; −1: it has none.
    var membership: Int { ownMembership.region < 0 ? -1 : Self.own }
}

/// A beacon at one receiver.
struct Link: Sendable, BitwiseCopyable {
    var model: ArrivalModel
    // A number of two bytes beside one of four would make a beacon 16 bytes larger.
    private let lowReceiver: UInt8
    /// The four high bits of the receiver, which is below 4,096, and 28 bits of the next link's position, plus 1.
    private var packed: UInt32

    init(model: ArrivalModel, receiver: Receiver, next: Int32 = -1) {
        self.model = model
        lowReceiver = UInt8(truncatingIfNeeded: receiver.index)
        packed = UInt32(receiver.index >> 8) << Self.positionBits
        self.next = next
    }

    private static var positionBits: UInt32 { 28 }
    private static var positionMask: UInt32 { 1 << positionBits - 1 }

    var receiver: Receiver {
        Receiver(index: UInt16(truncatingIfNeeded: packed >> Self.positionBits) << 8 | UInt16(lowReceiver))
    }

    /// The next link of the same beacon, in the engine's list; −1: none.
    var next: Int32 {
        get { Int32(truncatingIfNeeded: packed & Self.positionMask) - 1 }
        set { packed = packed & ~Self.positionMask | UInt32(truncatingIfNeeded: newValue &+ 1) & Self.positionMask }
    }
}
