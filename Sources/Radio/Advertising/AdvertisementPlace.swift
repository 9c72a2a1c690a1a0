package import Beacon

/// Where the kernel keeps an advertisement: at an adapter, under a number. It stays there when the program is killed, until
/// somebody removes it or the adapter is switched off.
package struct AdvertisementPlace: Hashable, Sendable {
    /// The adapter's own address, because its number may be another adapter's by now.
    package let adapter: DeviceAddress
    package let instance: UInt8

    package init(adapter: DeviceAddress, instance: UInt8) { (self.adapter, self.instance) = (adapter, instance) }
}
