package import Base
package import Beacon

/// Since when a region is occupied, and by which beacon.
package struct Occupancy: Hashable, Sendable {
    let begin: OccupancyBegin
    package let beacon: BeaconID
    package let rssi: RSSI?

    package init(since: MonotonicInstant, beacon: BeaconID, rssi: RSSI?) {
        self.init(OccupancyBegin(since: since), beacon: beacon, rssi: rssi)
    }

    init(_ begin: OccupancyBegin, beacon: BeaconID, rssi: RSSI?) {
        self.begin = begin
        self.beacon = beacon
        self.rssi = rssi
    }

    /// As `OccupancyBegin.since`.
    package var since: MonotonicInstant { begin.since }

    /// Seconds since 1970.
    package func timestamp(by clock: WallClock) -> Int64 { begin.timestamp(by: clock) }
}
