import Base
import Beacon
import Presence

/// The last readings of the batteries of the beacons of all regions. It decides when a battery is low, and keeps the low ones over a
/// restart.
///
/// Any transmitter can invent beacons of a region that names only a UUID, so the number of beacons is bounded.
struct Batteries: Sendable {
    /// Beacons that are remembered. Above it the beacon whose reading is oldest is forgotten.
    static let capacity = 512

    enum Change { case becameLow, recovered }

    private var states: [BeaconID: BatteryState] = [:]
    /// The low batteries as they were stored last.
    private var stored = Array("[]".utf8)

    subscript(beacon: BeaconID) -> BatteryState? { states[beacon] }

    /// The low batteries, the emptiest first.
    var low: [(beacon: BeaconID, state: BatteryState)] {
        states.filter(\.value.isLow).map { ($0.key, $0.value) }
            .sorted { left, right in
                let (a, b) = (left.beacon, right.beacon)
                return (left.state.battery.percent, a.uuid.high, a.uuid.low, a.major, a.minor)
                    < (right.state.battery.percent, b.uuid.high, b.uuid.low, b.major, b.minor)
            }
    }

    /// Keeps a reading. The change is stored with the next checkpoint: a sender that imitates a tag can change it many times in a
    /// second.
    ///
    /// - Parameter names: Of the regions that the beacon belongs to.
    /// - Returns: The line of the log, if the battery became low, or is no longer low.
    mutating func record(_ telemetry: BeaconTelemetry, names: [String], at now: MonotonicInstant) -> [Gateway.Effect] {
        guard let change = record(telemetry, at: now) else { return [] }
        let subject = "the battery of \(names.joined(separator: ", "))"
        let text =
            switch change {
            case .becameLow: "\(subject) is low: \(telemetry.battery); replace it (beacon \(telemetry.beacon))"
            case .recovered: "\(subject) is no longer low: \(telemetry.battery) (beacon \(telemetry.beacon))"
            }
        return [.log(LogEntry(change == .becameLow ? .warning : .notice, "battery", text))]
    }

    /// - Returns: nil if the battery is low as before, or not low as before.
    ///
    /// What only may be a battery is shown, and neither low nor shown in the place of a battery that is certain.
    mutating func record(_ telemetry: BeaconTelemetry, at now: MonotonicInstant) -> Change? {
        guard telemetry.isCertain || states[telemetry.beacon]?.isCertain != true else { return nil }
        let wasLow = states[telemetry.beacon]?.isLow
        if wasLow == nil, states.count >= Self.capacity,
            let oldest = states.min(by: { $0.value.instant ?? .zero < $1.value.instant ?? .zero })
        {
            states[oldest.key] = nil
        }
        let isLow = telemetry.isCertain && BatteryReading.isLow(telemetry.battery.percent, wasLow: wasLow == true)
        states[telemetry.beacon] = BatteryState(
            battery: telemetry.battery, temperature: telemetry.temperature, instant: now, isLow: isLow,
            isCertain: telemetry.isCertain)
        guard isLow != (wasLow ?? false) else { return nil }
        return isLow ? .becameLow : .recovered
    }

    /// Stores the low batteries if they are not stored as they are now.
    mutating func store(by clock: WallClock) -> [Gateway.Effect] {
        let bytes = KeptBatteries.bytes(low, clock: clock)
        guard bytes != stored else { return [] }
        stored = bytes
        return [storedAgain]
    }

    /// Stores the low batteries as they were stored last, because the store has a new file.
    var storedAgain: Gateway.Effect { .value(key: Gateway.lowBatteriesKey, stored) }

    /// Restores the low batteries of an earlier run. Readings of this run are newer.
    ///
    /// - Parameter bytes: The stored value of `Gateway.lowBatteriesKey`.
    mutating func restore(_ bytes: [UInt8], by clock: WallClock, at now: MonotonicInstant) {
        for (beacon, state) in KeptBatteries.low(in: bytes).prefix(Self.capacity) where states[beacon] == nil {
            states[beacon] = state
        }
        makeTimesExact(by: clock, at: now)
        stored = bytes
    }

    /// Expresses the times from before the start by the wall clock, if it is known.
    mutating func makeTimesExact(by clock: WallClock, at now: MonotonicInstant) {
        guard clock.isKnown else { return }
        for (beacon, state) in states {
            guard let timestamp = state.keptTimestamp else { continue }
            states[beacon] = BatteryState(
                battery: state.battery, temperature: state.temperature,
                instant: min(clock.instant(ofEpochSeconds: timestamp), now), isLow: state.isLow)
        }
    }

    /// Forgets the batteries of beacons that belong to no region of the engine.
    mutating func forget(besides engine: PresenceEngine) {
        guard !states.isEmpty else { return }
        states = states.filter { engine.regionCount(of: $0.key) > 0 }
    }
}
