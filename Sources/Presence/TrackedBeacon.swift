internal import Beacon

/// A beacon that some region wants.
struct TrackedBeacon: Sendable, BitwiseCopyable {
    let beacon: BeaconID
    /// The first of its links; a tracked beacon has at least one.
    var link: Int32
    /// The first of its regions; −1: none, since the regions changed.
    var membership: Int32 = -1
    /// How many regions it makes occupied.
    var nearCount: UInt16 = 0
}

/// A beacon at one receiver.
struct Link: Sendable, BitwiseCopyable {
    var model: ArrivalModel
    let receiver: Receiver
    /// The next link of the same beacon; −1: none.
    var next: Int32 = -1
}

extension PresenceEngine {
    /// What a beacon in one region at one receiver takes, without the index that finds it.
    package static var bytesPerBeacon: Int {
        MemoryLayout<TrackedBeacon>.stride + MemoryLayout<Link>.stride + MemoryLayout<RegionPresence>.stride
    }
}
