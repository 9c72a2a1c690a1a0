package import Base
package import Beacon

/// Where and when a beacon of a region was heard last.
package struct RegionHearing: Hashable, Sendable {
    package let beacon: BeaconID
    package let measuredPower: MeasuredPower
    package let rssi: RSSI?
    package let instant: MonotonicInstant
}
