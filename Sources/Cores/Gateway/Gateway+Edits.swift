import Base
import Configuration
import JSON
import OwnTracks
import Regions

/// Changes of regions by the command line, while the service runs or before it starts.
extension Gateway {
    /// Under this key the service stores the topics that it has regions for, as a JSON array for the command line.
    package static let servedTopicsKey = "served topics"

    package var servedTopics: [UInt8] {
        JSONValue.array(trackers.map { .string($0.topics.base) }).bytes
    }

    /// Under this key the service stores the devices of these topics, in the same order, as a JSON array for its next start.
    package static let servedDevicesKey = "served devices"

    var servedDevices: [UInt8] {
        JSONValue.array(trackers.map { .string($0.configuration.deviceID) }).bytes
    }

    /// Under this key the service stores on which hardware it first served these devices.
    package static let servedHardwareKey = "served hardware"

    /// Merges edits like the regions of a command. The consequences of an edit (such as a leave) and the mark that it
    /// is merged are one decision: each edit counts once, even after a power failure. Edits for a topic that no tracker
    /// has stay on the disk and wait for settings that name it.
    mutating func apply(_ edits: [RegionEdit], at now: MonotonicInstant) -> [Effect] {
        var effects: [Effect] = []
        var byTopic = Dictionary(grouping: edits) { ExactString($0.tracker) }
        for tracker in trackers.indices {
            let topic = trackers[tracker].topics.base
            // Edits that are read again may be merged already.
            let new = (byTopic.removeValue(forKey: ExactString(topic)) ?? []).filter { $0.id > lastEdits[topic] ?? 0 }
            guard let last = new.map(\.id).max() else { continue }
            lastEdits[topic] = last
            effects += merge(new.compactMap(\.regionChange), of: tracker, at: now).effects
            effects.append(.editsTaken(topic: topic, upTo: last))
        }
        guard !byTopic.isEmpty else { return effects }
        let count = byTopic.values.reduce(0) { $0 + $1.count }
        let topics = byTopic.keys.sorted().map(\.text).joined(separator: ", ")
        let text =
            "changes of regions wait (\(count)), as no tracker has the topic \(topics); they are applied with "
            + "settings that name it"
        return effects + [.log(LogEntry(.warning, "edits", text))]
    }
}
