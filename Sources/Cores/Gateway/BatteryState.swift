package import Base
package import Beacon

/// The last reading of a beacon's battery.
package struct BatteryState: Hashable, Sendable {
    package let battery: BatteryReading
    /// Degrees Celsius; nil: the beacon sends none.
    package let temperature: Float?
    /// When it was read; nil: before the start, and the time is not known.
    package let instant: MonotonicInstant?
    /// Seconds since 1970 from before the start, while no clock tells the instant.
    var keptTimestamp: Int64?
    /// Whether the battery has to be replaced soon.
    package let isLow: Bool
    /// As of `BeaconTelemetry`.
    let isCertain: Bool

    package init(
        battery: BatteryReading, temperature: Float?, instant: MonotonicInstant?, isLow: Bool, isCertain: Bool = true
    ) {
        self.isCertain = isCertain
        self.battery = battery
        self.temperature = temperature
        self.instant = instant
        self.isLow = isLow
    }
}
