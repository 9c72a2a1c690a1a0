import Base
import Beacon
import Presence
import Regions

/// A decided transition. It contains its region, because the region may change or disappear before the transition's
/// turn.
struct PendingTransition: Sendable {
    var key: RegionKey
    let isEnter: Bool
    let region: Region
    /// The first beacon that entered or the last that left; nil for a circle.
    let beacon: BeaconID?
    let rssi: RSSI?
    /// The instant of the decision.
    let instant: MonotonicInstant
    /// nil for an enter, and where the tracker's position left a circle.
    let leaveReason: LeaveReason?
}
