/// What a Bluetooth proxy offers: field 15 of its DeviceInfo.
package struct ProxyFeatures: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let passiveScan = ProxyFeatures(rawValue: 1)
    /// Packets as they were received, message 93.
    package static let rawAdvertisements = ProxyFeatures(rawValue: 32)
    /// The scanner's state and mode, messages 126 and 127.
    package static let stateAndMode = ProxyFeatures(rawValue: 64)

    /// 97: no connections, so that Home Assistant does not ask for them.
    package static let listening: ProxyFeatures = [.passiveScan, .rawAdvertisements, .stateAndMode]
}
