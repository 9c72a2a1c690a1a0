package import Beacon

/// What one gateway heard of one tag in one second.
package struct Reading: Hashable, Sendable {
    package var beacon: BeaconID
    /// Advertisements heard, at least 1.
    package var count: Int
    /// Median, dBm; nil if the radio gave no usable level.
    package var level: Float?
    /// Measured power at one metre, dBm; nil if unknown.
    package var power: Float?
    /// Time between the last advertisement and the end of the second.
    package var age: Duration
    /// What the tag said of its battery, per cent; nil: nothing.
    package var battery: UInt8?

    package init(
        beacon: BeaconID, count: Int, level: Float?, power: Float?, age: Duration, battery: UInt8? = nil
    ) {
        self.beacon = beacon
        self.count = count
        self.level = level
        self.power = power
        self.age = age
        self.battery = battery
    }
}
