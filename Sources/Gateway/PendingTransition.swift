import Base
import Beacon
import Presence
import Regions

/// A transition that was decided. It carries its region, which may be changed or removed before its turn comes.
struct PendingTransition: Sendable {
    var key: RegionKey
    let isEnter: Bool
    let region: Region
    /// The first beacon that was near, or the last that went; nil for a circle.
    let beacon: BeaconID?
    let rssi: RSSI?
    /// When it was decided.
    let instant: MonotonicInstant
}
