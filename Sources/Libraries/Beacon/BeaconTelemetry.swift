/// The battery and temperature that a beacon sent, whatever the format.
public struct BeaconTelemetry: Hashable, Sendable, BitwiseCopyable {
    /// The beacon that the values belong to.
    public let beacon: BeaconID
    /// Its battery.
    public let battery: BatteryReading
    /// Degrees Celsius; nil if the beacon sends none.
    public let temperature: Float?
    /// Whether a description of the format, or the user, says that it is the battery. Otherwise it is a number that may be one.
    public let isCertain: Bool

    package init(beacon: BeaconID, battery: BatteryReading, temperature: Float? = nil, isCertain: Bool = true) {
        self.beacon = beacon
        self.battery = battery
        self.temperature = temperature
        self.isCertain = isCertain
    }
}
