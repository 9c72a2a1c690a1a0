/// What a controller says about one advertising packet. The packet's own bytes are passed beside it as a span, so that
/// nothing is copied.
public struct AdvertisingReport: Hashable, Sendable, BitwiseCopyable {
    /// The address that the packet came from.
    public let address: DeviceAddress
    /// nil if the controller gave no usable value.
    public let rssi: RSSI?

    /// A report as a controller would give it.
    public init(address: DeviceAddress, rssi: RSSI?) {
        self.address = address
        self.rssi = rssi
    }
}
