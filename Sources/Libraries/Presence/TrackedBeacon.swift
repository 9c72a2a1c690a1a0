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
    /// The index of its joint model, in the engine's list; −1: it has none.
    var joint: Int32 = -1

    /// The index of the link and the membership that are stored in the beacon itself.
    static var own: Int { Int(Int32.max) }

    /// Where its chain of links begins.
    var link: Int { Self.own }
    /// Where its chain of regions begins; −1: it has none.
    var membership: Int { ownMembership.region < 0 ? -1 : Self.own }
}
