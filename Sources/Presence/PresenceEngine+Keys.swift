import Regions

extension PresenceEngine {
    /// Gives every region another key, because the trackers have another order. Occupancy does not change.
    ///
    /// - Parameter name: The new key for an old one, different for different ones.
    package mutating func rename(_ name: (RegionKey) -> RegionKey) {
        regions = regions.map { region in
            MonitoredRegion(
                key: name(region.key), pattern: region.pattern, leaveRule: region.leaveRule,
                leavesLater: region.leavesLater, enterRSSI: region.enterRSSI, leaveRSSI: region.leaveRSSI)
        }
        positions = RegionTable(regions)
        lastTurnedAway = lastTurnedAway.map { (name($0.region), $0.instant) }
    }
}
