public import Beacon
public import Regions

/// What the presence engine needs of a region: which beacons match it, and when they are near and gone.
/// Every default is already filled in.
public struct MonitoredRegion: Hashable, Sendable {
    /// Effects name the region by this key.
    public let key: RegionKey
    /// The beacons of the region.
    public let pattern: BeaconPattern
    /// When silence becomes a leave.
    public let leaveRule: LeaveRule
    /// The user asked for a longer leave timeout (a name with a leading `-`).
    public let leavesLater: Bool
    /// The region is of a phone or watch, which pauses for minutes.
    package var isOfPhone = false
    /// Nearness begins at this strength; nil: any sighting is near.
    public let enterRSSI: RSSI?
    /// Nearness ends below this strength; nil: only silence ends it.
    public let leaveRSSI: RSSI?

    /// A region for the engine. Only key and pattern have no default.
    public init(
        key: RegionKey, pattern: BeaconPattern, leaveRule: LeaveRule = .auto, leavesLater: Bool = false,
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
