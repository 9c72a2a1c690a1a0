package import Beacon

/// One advertising packet as the management socket reports it.
///
/// While a program runs a discovery on the adapter, packets come as Device Found; otherwise as Advertisement Monitor
/// Device Found, which is the same after the monitor's handle.
package struct FoundDevice: Hashable, Sendable {
    package let report: AdvertisingReport
    /// Where the advertising data is in the parameters.
    package let data: Range<Int>

    /// Address (6), address type (1), RSSI (1), flags (4), data length (2), data.
    ///
    /// - Returns: nil if it is malformed. For a device that is not Low Energy, `isLowEnergy` is false; that is no error.
    package init?(_ parameters: Span<UInt8>, hasMonitorHandle: Bool) {
        let start = hasMonitorHandle ? 2 : 0
        guard parameters.count >= start + 14, let length = parameters.littleEndian16(at: start + 12),
            parameters.count >= start + 14 + Int(length)
        else { return nil }
        let type = parameters[start + 6]
        guard let address = DeviceAddress(littleEndian: parameters, at: start, isRandom: type == 2) else { return nil }
        isLowEnergy = type == 1 || type == 2
        report = AdvertisingReport(
            address: address, rssi: RSSI(reported: Int8(bitPattern: parameters[start + 7])))
        data = start + 14..<start + 14 + Int(length)
    }

    /// False for a device found by an inquiry (BR/EDR).
    package let isLowEnergy: Bool
}
