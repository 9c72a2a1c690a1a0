package import Beacon

/// How a proxy describes itself.
package struct ProxySettings: Hashable, Sendable {
    /// The longest name of a device, bytes.
    package static let longestName = 31
    /// How the connections are encrypted, as Home Assistant is told.
    package static let encryption = NoiseHandshake.name
    /// The port at which Home Assistant waits for proxies that dial.
    package static let dialPort: UInt16 = 6054

    /// In the form of a host name, at most `longestName` bytes. Home Assistant knows the device by it in the handshake.
    package var name: String
    package var friendlyName: String
    /// The unique id of the device, for ever.
    package var macAddress: DeviceAddress
    /// The source of the packets. No other scanner may have it.
    package var bluetoothAddress: DeviceAddress
    /// The room; empty if none is suggested.
    package var area = ""
    package var manufacturer = ""
    package var model = ""
    /// `<maker>.<name>`; with one, Home Assistant requires no version of ESPHome's own Bluetooth proxy.
    package var projectName = "ibeacon.gateway"
    /// The program's version.
    package var projectVersion: String
    /// The version of ESPHome whose API is spoken.
    package var esphomeVersion = "2026.5.1"
    /// The minor version of the API, after 1. From 15 on, capabilities are asked for.
    package var apiMinorVersion: UInt32 = 14
    package var features = ProxyFeatures.listening
    /// Whether Home Assistant is dialled.
    package var dials = true

    /// - Parameters:
    ///   - name: In the form of a host name; the bytes beyond `longestName` are removed.
    package init(
        name: String, friendlyName: String, macAddress: DeviceAddress, bluetoothAddress: DeviceAddress,
        projectVersion: String
    ) {
        self.name = String(decoding: name.utf8.prefix(Self.longestName), as: UTF8.self)
        self.friendlyName = friendlyName
        self.macAddress = macAddress
        self.bluetoothAddress = bluetoothAddress
        self.projectVersion = projectVersion
    }
}
