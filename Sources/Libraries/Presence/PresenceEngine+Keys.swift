extension PresenceEngine {
    /// Gives every region another key, because the trackers have another order. Occupancy does not change.
    ///
    /// - Parameter name: The new key for an old one, different for different ones.
    package mutating func rename(_ name: (RegionKey) -> RegionKey) {
        keys = keys.map(name)
        positions = RegionTable(keys)
        lastTurnedAway = lastTurnedAway.map { (name($0.region), $0.instant) }
    }
}
