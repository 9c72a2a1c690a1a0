public import Base

/// Finds iBeacons in advertising packets, and the telemetry that belongs to them.
public struct BeaconDecoder: Sendable {
    /// The counts of malformed frames so far, by kind.
    public private(set) var malformed = MalformedCounters()
    /// The bits of major and minor in which tags send their battery.
    public var masks = BatteryMasks() { didSet { hasMasks = !masks.all.isEmpty } }
    private var hasMasks = false
    private var joiner = TelemetryJoiner()

    /// A decoder that has heard nothing.
    public init() {}

    /// Reads one packet. Telemetry may come in packets of its own, so it is joined with the iBeacon of the same address.
    ///
    /// - Parameters:
    ///   - data: The advertising data of one packet.
    ///   - report: What the controller says about the packet.
    ///   - receiver: The radio that heard it.
    ///   - now: When it was heard; never before the previous packet.
    ///   - telemetry: Called before the return if the packet completes what a beacon said about itself.
    /// - Returns: nil if the packet is not an iBeacon.
    @inline(__always)
    public mutating func sighting(
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
        // An iBeacon with Flags has 30 bytes, one without them 27.
        if data.count > 27, data.count != 30 { readRest(of: data, frame.id, as: beacon, telemetry: telemetry) }
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

    /// Looks for a battery in the packet of an iBeacon: in the byte behind the frame, or in service data. What is in one packet
    /// belongs together.
    @inline(never)
    private mutating func readRest(
        of data: Span<UInt8>, _ sent: BeaconID, as beacon: BeaconID, telemetry: (BeaconTelemetry) -> Void
    ) {
        var level: UInt8?
        AdvertisingData.forEachStructure(in: data) { type, content in
            if type == AdvertisingData.manufacturerSpecificData { level = level ?? IBeacon.trailingLevel(content) }
            return level == nil
        }
        if let battery = level.flatMap({ BatteryReading(level: $0) }) {
            telemetry(BeaconTelemetry(beacon: beacon, battery: battery, isCertain: masks.names(sent.uuid)))
        }
        if let own = Telemetry(advertisingData: data, malformed: &malformed) {
            telemetry(BeaconTelemetry(beacon: beacon, battery: own.battery, temperature: own.temperature))
        }
    }

    @inline(never)
    private mutating func keepTelemetry(
        in data: Span<UInt8>, of report: AdvertisingReport, by receiver: Receiver, at now: MonotonicInstant
    ) {
        guard let telemetry = Telemetry(advertisingData: data, malformed: &malformed) else { return }
        joiner.heard(telemetry, from: report.address, by: receiver, at: now)
    }
}
