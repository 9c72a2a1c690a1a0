package import Beacon

/// A beacon that is not a tag, as it was heard in one second.
package struct NearbyBeacon: Hashable, Sendable {
    package let beacon: BeaconID
    package var count = 0
    /// The strongest level in dBm; nil if no packet had one.
    package var level: Int8?
    package var power: MeasuredPower
}
