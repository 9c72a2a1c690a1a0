/// The calibrated signal strength at one metre, in dBm, from the beacon's manufacturer. It is the last byte of an
/// iBeacon frame, and not an RSSI.
public struct MeasuredPower: Hashable, Sendable, BitwiseCopyable {
    /// dBm at one metre, usually −50 … −80.
    public let dBm: Int8

    /// - Parameter dBm: At one metre. The frame carries any value of a signed byte.
    public init(dBm: Int8) { self.dBm = dBm }
}
