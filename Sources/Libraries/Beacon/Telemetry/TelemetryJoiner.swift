package import Base

/// Joins telemetry frames, which name no beacon, to the iBeacon that the same device sends.
///
/// Only the address of the device connects the two, and addresses rotate. So a frame is joined only if the same
/// receiver heard the same iBeacon from the same address shortly before it **and** shortly after it, and no other
/// iBeacon from this address. A device that takes over another's address sends its own iBeacon before the former owner
/// could send again, so its telemetry is dropped and not joined wrongly.
///
/// Any transmitter can send telemetry, so the number of addresses is bounded. Nothing is allocated after `init`. While
/// no device sends telemetry, an iBeacon costs one comparison.
package struct TelemetryJoiner: Sendable {
    /// The longest time between a telemetry frame and the iBeacon before it, and between the frame and the iBeacon
    /// after it. Tags send an iBeacon at least every two seconds, so that three or more fall into it. Devices change a
    /// resolvable private address after 1 s at the earliest, usually after 15 min (Core Specification 5.4, Vol 4, Part
    /// E, 7.8.45). So an address does not leave its device and come back within twice this time.
    package static let window: Duration = .seconds(5)
    private static let windowNanoseconds: Int64 = 5_000_000_000

    /// The number of remembered addresses, in sets of `ways`. A house has tens of tags.
    package static let capacity = sets * ways
    private static let sets = 64
    private static let ways = 4

    private struct Entry: BitwiseCopyable {
        /// Receiver, kind of address and address; 0 is empty.
        var device: UInt64 = 0
        /// The iBeacon that the device sent last, and when; nil if it sent none since its first telemetry frame.
        var beacon: BeaconID?
        var beaconHeard: Int64 = 0
        /// Until this instant two iBeacons of this address lie within one window.
        var ambiguousUntil = Int64.min
        /// The frame that waits for the iBeacon after it.
        var waiting: Telemetry?
        /// When the last telemetry frame was heard.
        var telemetryHeard: Int64 = 0
    }

    private var entries: [Entry]
    private var isEmpty = true
    /// Odd and random, so that no sender can choose addresses that share a set.
    private let key = UInt64.random(in: .min ... .max) | 1

    package init() {
        entries = Array(repeating: Entry(), count: Self.capacity)
    }

    /// A telemetry frame was heard. It waits for the next iBeacon of the device.
    package mutating func heard(
        _ telemetry: Telemetry, from address: DeviceAddress, by receiver: Receiver, at now: MonotonicInstant
    ) {
        isEmpty = false
        let time = now.nanoseconds
        let device = Self.device(address, receiver)
        let place = find(device) ?? replace(device)
        let isBracketed =
            entries[place].beacon != nil && Self.isWithin(time &- entries[place].beaconHeard)
            && time > entries[place].ambiguousUntil
        entries[place].waiting = isBracketed ? telemetry : nil
        entries[place].telemetryHeard = time
    }

    /// An iBeacon was heard.
    ///
    /// - Returns: The telemetry that the device sent before, if it certainly came from this beacon.
    @inline(__always)
    package mutating func heard(
        _ beacon: BeaconID, from address: DeviceAddress, by receiver: Receiver, at now: MonotonicInstant
    ) -> Telemetry? {
        isEmpty ? nil : join(beacon, Self.device(address, receiver), at: now.nanoseconds)
    }

    private mutating func join(_ beacon: BeaconID, _ device: UInt64, at time: Int64) -> Telemetry? {
        guard let place = find(device) else { return nil }
        defer { (entries[place].beacon, entries[place].beaconHeard) = (beacon, time) }
        guard entries[place].beacon == beacon else {
            entries[place].waiting = nil
            if entries[place].beacon != nil, Self.isWithin(time &- entries[place].beaconHeard) {
                entries[place].ambiguousUntil = time &+ Self.windowNanoseconds
            }
            return nil
        }
        guard let waiting = entries[place].waiting else { return nil }
        entries[place].waiting = nil
        return Self.isWithin(time &- entries[place].telemetryHeard) ? waiting : nil
    }

    /// - Parameter age: Nanoseconds. A value below 0 is that of a late report, which proves nothing.
    private static func isWithin(_ age: Int64) -> Bool { 0...windowNanoseconds ~= age }

    private static func device(_ address: DeviceAddress, _ receiver: Receiver) -> UInt64 {
        1 << 63 | UInt64(receiver.index) << 49 | (address.isRandom ? 1 << 48 : 0) | address.value
    }

    // MARK: Places

    private func set(of device: UInt64) -> Int {
        Int(truncatingIfNeeded: (device &* key) >> 58) * Self.ways
    }

    private func find(_ device: UInt64) -> Int? {
        let first = set(of: device)
        for place in first..<first + Self.ways where entries[place].device == device { return place }
        return nil
    }

    /// The place of a new device. In a full set it is the place of the device whose last telemetry is oldest.
    private mutating func replace(_ device: UInt64) -> Int {
        let first = set(of: device)
        var oldest = first
        for place in first..<first + Self.ways {
            if entries[place].device == 0 {
                oldest = place
                break
            }
            if entries[place].telemetryHeard < entries[oldest].telemetryHeard { oldest = place }
        }
        entries[oldest] = Entry()
        entries[oldest].device = device
        return oldest
    }
}
