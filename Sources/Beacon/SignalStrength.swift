/// Received signal strength in dBm, as the controller reports it.
///
/// Core Specification 5.4, Vol 4, Part E, 7.7.65.2: −127 to +20 dBm; 127 says "not available".
package struct RSSI: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// −127 … +20 dBm.
    package let dBm: Int8

    /// - Returns: nil where the controller had nothing to say (127) or says what the specification
    ///   rules out (above +20). Recordings of real controllers carry such values.
    package init?(reported value: Int8) {
        guard value <= 20 else { return nil }
        dBm = max(value, -127)
    }

    package static func < (lhs: RSSI, rhs: RSSI) -> Bool { lhs.dBm < rhs.dBm }
}

extension RSSI: CustomStringConvertible {
    package var description: String { "\(dBm) dBm" }
}

/// What a receiver one metre away should hear, in dBm, as the beacon's maker calibrated it.
/// The last byte of an iBeacon frame; never to be mistaken for an RSSI.
package struct MeasuredPower: Hashable, Sendable, BitwiseCopyable {
    /// dBm at one metre, usually −50 … −80.
    package let dBm: Int8

    package init(dBm: Int8) { self.dBm = dBm }
}
