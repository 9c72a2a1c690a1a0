/// The radio that heard something: the adapter's index in the scanner's numbering (`hci0` is 0).
package struct Receiver: Hashable, Sendable, BitwiseCopyable {
    package let index: UInt8

    package init(index: UInt8) { self.index = index }
}

/// One iBeacon frame heard once by one receiver: the only input for presence besides time.
package struct Sighting: Hashable, Sendable, BitwiseCopyable {
    package let beacon: BeaconID
    package let measuredPower: MeasuredPower
    /// nil if the controller gave no usable value. Such a sighting still ends the beacon's silence.
    package let rssi: RSSI?
    package let receiver: Receiver

    package init(beacon: BeaconID, measuredPower: MeasuredPower, rssi: RSSI?, receiver: Receiver) {
        self.beacon = beacon
        self.measuredPower = measuredPower
        self.rssi = rssi
        self.receiver = receiver
    }
}
