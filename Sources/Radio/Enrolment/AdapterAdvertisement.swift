/// An advertisement that an enrolment beside bluetoothd has asked the kernel for.
package struct AdapterAdvertisement: Hashable, Sendable {
    package let adapter: UInt16
    package let instance: UInt8

    package init(adapter: UInt16, instance: UInt8) { (self.adapter, self.instance) = (adapter, instance) }
}
