/// Which radio heard something: the index of the adapter as the scanner numbers them (`hci0` is 0).
package struct Receiver: Hashable, Sendable, BitwiseCopyable {
    package let index: UInt8

    package init(index: UInt8) { self.index = index }
}

/// One iBeacon frame heard once by one receiver: all that presence is decided from.
package struct Sighting: Hashable, Sendable, BitwiseCopyable {
    package let beacon: BeaconID
    package let measuredPower: MeasuredPower
    /// nil where the controller gave no usable value; the sighting still proves the beacon is there.
    package let rssi: RSSI?
    package let receiver: Receiver

    package init(beacon: BeaconID, measuredPower: MeasuredPower, rssi: RSSI?, receiver: Receiver) {
        self.beacon = beacon
        self.measuredPower = measuredPower
        self.rssi = rssi
        self.receiver = receiver
    }
}
