package import Gateway

extension StatusSnapshot {
    /// The database on disk.
    package struct StoreState: Hashable, Sendable {
        /// Why nothing can be written; nil if all is well.
        package var problem: String?
        /// Transactions written since the start.
        package var writes: UInt64 = 0

        package init(problem: String? = nil, writes: UInt64 = 0) {
            self.problem = problem
            self.writes = writes
        }
    }

    /// Data that exceeded a limit.
    package struct OverflowState: Hashable, Sendable {
        /// iBeacon frames of beacons that belong to a region and were not remembered.
        package var sightings: UInt64 = 0
        /// Messages from the broker that were too large or too many at once, since the settings of the connection
        /// changed.
        package var incoming: UInt64 = 0
        /// The region whose beacons were turned away recently.
        package var crowded: CrowdedRegion?

        package init(sightings: UInt64 = 0, incoming: UInt64 = 0, crowded: CrowdedRegion? = nil) {
            self.sightings = sightings
            self.incoming = incoming
            self.crowded = crowded
        }
    }
}
