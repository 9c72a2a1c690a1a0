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

    package init(beacon: BeaconID, count: Int, level: Float?, power: Float?, age: Duration) {
        self.beacon = beacon
        self.count = count
        self.level = level
        self.power = power
        self.age = age
    }
}

/// One message of a gateway: what it heard in one second.
package struct HeardSecond: Hashable, Sendable {
    /// Random per start of the gateway; empty for a gateway without a clock of its own (ESPresense).
    package var boot: String
    package var sequence: Int64
    /// End of the second on the gateway's monotonic clock; nil for a gateway without one.
    package var at: Duration?
    /// How long the radio listened in the second.
    package var listening: Duration
    /// Advertisements of any kind that were received since the previous message.
    package var reports: Int64
    package var readings: [Reading]

    package init(
        boot: String, sequence: Int64, at: Duration?, listening: Duration, reports: Int64, readings: [Reading]
    ) {
        self.boot = boot
        self.sequence = sequence
        self.at = at
        self.listening = listening
        self.reports = reports
        self.readings = readings
    }
}
