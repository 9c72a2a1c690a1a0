package import Base
package import Beacon

/// Since when a region is occupied, and by which beacon.
package struct Occupancy: Hashable, Sendable {
    /// Before the zero of the clock if the occupancy is older than the boot. The start of this program if the wall
    /// clock was not known, so that the age is unknown.
    package let since: MonotonicInstant
    /// Seconds since 1970 from before a restart of the machine, where they are more exact than `since`.
    package let keptTimestamp: Int64?
    package let beacon: BeaconID
    package let rssi: RSSI?

    package init(since: MonotonicInstant, keptTimestamp: Int64? = nil, beacon: BeaconID, rssi: RSSI?) {
        self.since = since
        self.keptTimestamp = keptTimestamp
        self.beacon = beacon
        self.rssi = rssi
    }

    /// Seconds since 1970.
    package func timestamp(by clock: WallClock) -> Int64 { keptTimestamp ?? clock.epochSeconds(at: since) }
}

/// Since when a tracker is inside a circle.
package struct CircleOccupancy: Hashable, Sendable {
    /// As `Occupancy.since`.
    package let since: MonotonicInstant
    /// As `Occupancy.keptTimestamp`.
    package let keptTimestamp: Int64?

    /// Seconds since 1970.
    package func timestamp(by clock: WallClock) -> Int64 { keptTimestamp ?? clock.epochSeconds(at: since) }
}
