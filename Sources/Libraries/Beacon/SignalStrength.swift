/// Received signal strength in dBm, as the controller reports it.
///
/// Core Specification 5.4, Vol 4, Part E, 7.7.65.2: −127 to +20 dBm; 127 means "not available".
package struct RSSI: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// −127 … +20 dBm.
    package let dBm: Int8

    /// - Returns: nil if the controller gave no value (127), or a value that the specification excludes (above +20).
    ///   Recordings of real controllers contain such values.
    package init?(reported value: Int8) {
        guard value <= 20 else { return nil }
        dBm = max(value, -127)
    }

    package static func < (lhs: RSSI, rhs: RSSI) -> Bool { lhs.dBm < rhs.dBm }
}

extension RSSI: CustomStringConvertible {
    package var description: String { "\(dBm) dBm" }
}

/// The calibrated signal strength at one metre, in dBm, from the beacon's manufacturer. It is the last byte of an
/// iBeacon frame, and not an RSSI.
package struct MeasuredPower: Hashable, Sendable, BitwiseCopyable {
    /// dBm at one metre, usually −50 … −80.
    package let dBm: Int8

    package init(dBm: Int8) { self.dBm = dBm }
}
