import Base
package import Beacon
import Presence
import Regions

extension Gateway {
    /// The last reading of the beacon's battery; nil if there is none, or if the beacon belongs to no region.
    package func battery(of beacon: BeaconID) -> BatteryState? { batteries[beacon] }

    /// The beacons whose batteries are low, the emptiest first, each with the names of its regions.
    package var lowBatteries: [(beacon: BeaconID, names: [String], state: BatteryState)] {
        batteries.low.map { ($0.beacon, distinctNames(of: $0.beacon), $0.state) }
    }

    /// Keeps the reading of a beacon that belongs to a region. Readings of other beacons mean nothing to anyone.
    mutating func record(_ telemetry: BeaconTelemetry, at now: MonotonicInstant) -> [Effect] {
        let names = distinctNames(of: telemetry.beacon)
        guard !names.isEmpty else { return [] }
        totals.telemetry += 1
        guard let change = batteries.record(telemetry, at: now) else { return [] }
        let subject = "the battery of \(names.joined(separator: ", "))"
        let text =
            switch change {
            case .becameLow: "\(subject) is low: \(telemetry.battery); replace it (beacon \(telemetry.beacon))"
            case .recovered: "\(subject) is no longer low: \(telemetry.battery) (beacon \(telemetry.beacon))"
            }
        // It is stored with the next checkpoint: a sender that imitates a tag can change it many times in a second.
        return [.log(LogEntry(change == .becameLow ? .warning : .notice, "battery", text))]
    }

    /// The key of the low batteries in the store.
    package static let lowBatteriesKey = "low batteries"

    /// Stores the low batteries if they are not stored as they are now.
    mutating func storeLowBatteries() -> [Effect] {
        let bytes = KeptBatteries.bytes(batteries.low, clock: wallClock)
        guard bytes != storedLowBatteries else { return [] }
        storedLowBatteries = bytes
        return [.value(key: Self.lowBatteriesKey, bytes)]
    }

    /// - Parameter bytes: The stored value of `lowBatteriesKey`.
    mutating func restoreLowBatteries(_ bytes: [UInt8]) {
        batteries.restore(KeptBatteries.low(in: bytes))
        batteries.makeTimesExact(by: wallClock, at: latest)
        storedLowBatteries = bytes
    }

    /// Forgets the batteries of beacons that no longer belong to a region.
    mutating func forgetBatteries() {
        let engine = engine
        batteries.removeAll { engine.regionCount(of: $0) == 0 }
    }

    /// The names of the regions that a beacon belongs to, each once.
    private func distinctNames(of beacon: BeaconID) -> [String] {
        var known: Set<String> = []
        return regionNames(of: beacon).filter { known.insert($0).inserted }
    }
}
