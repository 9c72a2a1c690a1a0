package import Base

/// The battery and temperature that a beacon sent, whatever the format.
package struct BeaconTelemetry: Hashable, Sendable, BitwiseCopyable {
    package let beacon: BeaconID
    package let battery: BatteryReading
    /// Degrees Celsius; nil if the beacon sends none.
    package let temperature: Float?

    package init(beacon: BeaconID, battery: BatteryReading, temperature: Float? = nil) {
        self.beacon = beacon
        self.battery = battery
        self.temperature = temperature
    }
}

/// Finds iBeacons in advertising packets, and the telemetry that belongs to them.
package struct BeaconDecoder: Sendable {
    /// The counts of malformed frames so far, by kind.
    package private(set) var malformed = MalformedCounters()
    /// The bits of major and minor in which tags send their battery.
    package var masks = BatteryMasks() { didSet { hasMasks = !masks.all.isEmpty } }
    private var hasMasks = false
    private var joiner = TelemetryJoiner()

    package init() {}

    /// - Parameters:
    ///   - data: The advertising data of one packet.
    ///   - telemetry: Called before the return if the packet completes what a beacon said about itself.
    /// - Returns: nil if the packet is not an iBeacon.
    @inline(__always)
    package mutating func sighting(
        in data: Span<UInt8>, of report: AdvertisingReport, by receiver: Receiver, at now: MonotonicInstant,
        telemetry: (BeaconTelemetry) -> Void
    ) -> Sighting? {
        var hasTelemetry = false
        guard
            let frame = IBeacon(advertisingData: data, malformed: &malformed, hasTelemetry: &hasTelemetry)
        else {
            if hasTelemetry { keepTelemetry(in: data, of: report, by: receiver, at: now) }
            return nil
        }
        let beacon = hasMasks ? unmasked(frame.id, telemetry: telemetry) : frame.id
        if let joined = joiner.heard(beacon, from: report.address, by: receiver, at: now) {
            telemetry(BeaconTelemetry(beacon: beacon, battery: joined.battery, temperature: joined.temperature))
        }
        return Sighting(beacon: beacon, measuredPower: frame.measuredPower, rssi: report.rssi, receiver: receiver)
    }

    /// The identity of a tag without its battery bits.
    @inline(never)
    private func unmasked(_ beacon: BeaconID, telemetry: (BeaconTelemetry) -> Void) -> BeaconID {
        guard let mask = masks[beacon.uuid] else { return beacon }
        let cleared = mask.cleared(beacon)
        if let battery = BatteryReading(level: mask.level(of: beacon)) {
            telemetry(BeaconTelemetry(beacon: cleared, battery: battery))
        }
        return cleared
    }

    @inline(never)
    private mutating func keepTelemetry(
        in data: Span<UInt8>, of report: AdvertisingReport, by receiver: Receiver, at now: MonotonicInstant
    ) {
        guard let telemetry = Telemetry(advertisingData: data, malformed: &malformed) else { return }
        joiner.heard(telemetry, from: report.address, by: receiver, at: now)
    }
}
