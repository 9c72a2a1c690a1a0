extension PresenceEngine {
    /// Gives every region a new key after the order of the trackers changed. Occupancy does not change.
    ///
    /// - Parameter name: The new key for an old one. Different keys must get different new ones.
    package mutating func rename(_ name: (RegionKey) -> RegionKey) {
        keys = keys.map(name)
        indexes = RegionTable(keys)
        lastTurnedAway = lastTurnedAway.map { (name($0.region), $0.instant) }
    }
}
