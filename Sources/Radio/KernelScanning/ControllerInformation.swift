package import Beacon

/// The answer to Read Controller Information, as far as it matters here.
package struct ControllerInformation: Hashable, Sendable {
    package let address: DeviceAddress
    /// HCI version.
    package let version: UInt8
    /// Company identifier.
    package let manufacturer: UInt16
    package let supported: ControllerSettings
    package let current: ControllerSettings

    /// Address (6), version (1), manufacturer (2), supported settings (4), current settings (4), …
    package init?(_ result: Span<UInt8>) {
        guard let address = DeviceAddress(littleEndian: result, at: 0, isRandom: false),
            let manufacturer = result.littleEndian16(at: 7), let supported = result.littleEndian32(at: 9),
            let current = result.littleEndian32(at: 13)
        else { return nil }
        self.address = address
        version = result[6]
        self.manufacturer = manufacturer
        self.supported = ControllerSettings(rawValue: supported)
        self.current = ControllerSettings(rawValue: current)
    }
}
