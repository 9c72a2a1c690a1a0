package import Base
package import Beacon

/// Who is inside a region, since when and by which beacon.
package struct Occupancy: Hashable, Sendable {
    /// Before the zero of the clock if it is older than the machine's last start, and the start of this program
    /// if nobody knows how much older.
    package let since: MonotonicInstant
    /// Seconds since 1970, where they are known better than by `since`: from before the machine was restarted.
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
package struct CircleStay: Hashable, Sendable {
    /// As `Occupancy.since`.
    package let since: MonotonicInstant
    /// As `Occupancy.keptTimestamp`.
    package let keptTimestamp: Int64?

    /// Seconds since 1970.
    package func timestamp(by clock: WallClock) -> Int64 { keptTimestamp ?? clock.epochSeconds(at: since) }
}
