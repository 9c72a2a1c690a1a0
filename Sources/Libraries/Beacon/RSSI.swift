/// Received signal strength in dBm, as the controller reports it.
///
/// Core Specification 5.4, Vol 4, Part E, 7.7.65.2: −127 to +20 dBm; 127 means "not available".
public struct RSSI: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// −127 … +20 dBm.
    public let dBm: Int8

    /// - Returns: nil if the controller gave no value (127), or a value that the specification excludes (above +20).
    ///   Recordings of real controllers contain such values.
    public init?(reported value: Int8) {
        guard value <= 20 else { return nil }
        dBm = max(value, -127)
    }

    /// Whether the left signal is weaker.
    public static func < (lhs: RSSI, rhs: RSSI) -> Bool { lhs.dBm < rhs.dBm }
}

extension RSSI: CustomStringConvertible {
    /// `-67 dBm`
    public var description: String { "\(dBm) dBm" }
}
