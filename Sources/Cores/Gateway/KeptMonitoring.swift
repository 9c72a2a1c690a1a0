package import OwnTracks

/// The monitoring mode of a tracker as it is stored, with the setting that was in force.
///
/// A mode that a region or a command switched to outlives a restart. A setting that the user has changed since is newer
/// than the mode.
package struct KeptMonitoring: Hashable, Sendable {
    let mode: MonitoringMode
    /// nil: stored by a version before 1.0.0, which did not store it.
    let setting: MonitoringMode?

    init(_ mode: MonitoringMode, setting: MonitoringMode) { (self.mode, self.setting) = (mode, setting) }

    /// The key in the store, for the tracker with this base topic.
    package static func storeKey(of topic: String) -> String { "monitoring \(topic)" }

    /// Reads what `bytes` returned; nil for anything else.
    package init?(bytes: [UInt8]) {
        let modes = String(decoding: bytes, as: UTF8.self).split(separator: " ").map {
            Int($0).flatMap(MonitoringMode.init(rawValue:))
        }
        guard (1...2).contains(modes.count), let mode = modes[0] else { return nil }
        self.mode = mode
        setting = modes.count == 2 ? modes[1] : nil
    }

    /// The numbers of the mode and of the setting.
    package var bytes: [UInt8] { Array("\(mode.rawValue) \(setting?.rawValue ?? mode.rawValue)".utf8) }

    /// The mode at a start with this setting.
    package func mode(for setting: MonitoringMode) -> MonitoringMode {
        setting == self.setting ?? setting ? mode : setting
    }
}
