package import Beacon

/// An adapter of this machine. The address is nil if nothing tells it.
package struct PresentAdapter: Hashable, Sendable, CustomStringConvertible {
    package let index: UInt16
    package let address: DeviceAddress?

    package init(index: UInt16, address: DeviceAddress?) {
        self.index = index
        self.address = address
    }

    package var description: String { address.map { "hci\(index) (\($0))" } ?? "hci\(index)" }
}
