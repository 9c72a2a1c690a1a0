package import Base
import JSON

/// The keys in the store, beside those of `AppliedCommands`, `KeptMonitoring` and `ObeyedEnvelopes`.
extension Gateway {
    /// The settings that came by `setConfiguration`.
    package static let remoteSettingsKey = "remote configuration"
    /// The topics that the service has regions for, as a JSON array for the command line.
    package static let servedTopicsKey = "served topics"
    /// The devices of these topics, in the same order, as a JSON array for the next start.
    package static let servedDevicesKey = "served devices"
    /// On which hardware the service first served these devices.
    package static let servedHardwareKey = "served hardware"
    /// The topics of removed trackers, as a JSON array for the next start. What is stored under any other topic was left by a version
    /// of the program that did not empty the former topic of a tracker.
    package static let removedTopicsKey = "removed topics"
    /// The low batteries.
    package static let lowBatteriesKey = "low batteries"

    /// Under this key a clear waits, for the tracker with this base topic.
    package static func pendingClearKey(of topic: String) -> String { "pending clear \(topic)" }

    /// The `rid`s of the value under `pendingClearKey`.
    package static func pendingClear(_ bytes: [UInt8]) -> Set<ExactString> {
        let rids = (try? JSONValue(parsing: bytes))?.array ?? []
        return Set(rids.compactMap { $0.string.map { ExactString($0) } })
    }
}
