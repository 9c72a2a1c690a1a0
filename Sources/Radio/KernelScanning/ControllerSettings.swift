/// The settings of a controller, supported or current.
package struct ControllerSettings: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let powered = ControllerSettings(rawValue: 1 << 0)
    /// Others may connect. The kernel then makes every advertisement connectable.
    package static let connectable = ControllerSettings(rawValue: 1 << 1)
    package static let bondable = ControllerSettings(rawValue: 1 << 4)
    package static let secureSimplePairing = ControllerSettings(rawValue: 1 << 6)
    package static let lowEnergy = ControllerSettings(rawValue: 1 << 9)
    /// The kernel's own advertising (Set Advertising), beside which it sends no advertisement of a program.
    package static let advertising = ControllerSettings(rawValue: 1 << 10)
    package static let secureConnections = ControllerSettings(rawValue: 1 << 11)

    /// The names of the settings, in the words of the interface's description.
    package var names: [String] {
        let names = [
            "powered", "connectable", "fast connectable", "discoverable", "bondable", "link-level security",
            "secure simple pairing", "BR/EDR", "high speed", "low energy", "advertising", "secure connections",
            "debug keys", "privacy", "configuration", "static address", "PHY configuration", "wideband speech",
        ]
        return names.indices.filter { rawValue >> UInt32($0) & 1 == 1 }.map { names[$0] }
    }
}
