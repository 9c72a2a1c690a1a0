/// One iBeacon frame heard once by one receiver: the only input for presence besides time.
public struct Sighting: Hashable, Sendable, BitwiseCopyable {
    /// The beacon that sent the frame.
    public let beacon: BeaconID
    /// The frame's own statement of its strength at one metre.
    public let measuredPower: MeasuredPower
    /// nil if the controller gave no usable value. Such a sighting still ends the beacon's silence.
    public let rssi: RSSI?
    /// The receiver that heard it.
    public let receiver: Receiver

    /// A frame as a receiver would have heard it.
    public init(beacon: BeaconID, measuredPower: MeasuredPower, rssi: RSSI?, receiver: Receiver) {
        self.beacon = beacon
        self.measuredPower = measuredPower
        self.rssi = rssi
        self.receiver = receiver
    }
}
