package import Base
package import Beacon
package import Regions

/// Names a region across all trackers of the gateway.
package struct RegionKey: Hashable, Sendable {
    /// Position of the tracker in the configuration; 0 is the gateway's own.
    package let tracker: Int
    @ExactString package private(set) var rid: String

    package init(tracker: Int, rid: String) {
        self.tracker = tracker
        self.rid = rid
    }
}

/// What the presence engine needs of a region: which beacons match it, and when they are near and gone.
/// Every default is already filled in.
package struct MonitoredRegion: Hashable, Sendable {
    package let key: RegionKey
    package let pattern: BeaconPattern
    package let leaveRule: LeaveRule
    /// The user asked for a longer leave timeout (a name with a leading `-`).
    package let leavesLater: Bool
    /// Nearness begins at this strength; nil: any sighting is near.
    package let enterRSSI: RSSI?
    /// Nearness ends below this strength; nil: only silence ends it.
    package let leaveRSSI: RSSI?

    package init(
        key: RegionKey, pattern: BeaconPattern, leaveRule: LeaveRule, leavesLater: Bool = false,
        enterRSSI: RSSI? = nil, leaveRSSI: RSSI? = nil
    ) {
        self.key = key
        self.pattern = pattern
        self.leaveRule = leaveRule
        self.leavesLater = leavesLater
        self.enterRSSI = enterRSSI
        self.leaveRSSI = leaveRSSI
    }
}
