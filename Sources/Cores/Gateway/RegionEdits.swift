import Base
import Regions

/// Changes of regions by the command line, while the service runs or before it starts. It knows which of them are merged: each edit
/// counts once, although the store may be read again.
struct RegionEdits: Sendable {
    /// New edits of one tracker.
    struct Taken {
        /// The index of the tracker.
        let tracker: Int
        let changes: [RegionChange]
        /// To be stored with their consequences (such as a leave) in one decision, so that each edit counts once, even after a
        /// power failure.
        let mark: Gateway.Effect
    }

    /// The last merged edit of each tracker, by topic.
    private var last: [ExactString: Int64] = [:]

    /// Takes the edits that are new. Edits for a topic that no tracker has stay on the disk and wait for settings that
    /// name it.
    ///
    /// - Parameter topics: The base topics of the trackers, by their indices.
    /// - Returns: The edits to be merged, and a line of the log if some wait.
    mutating func take(_ edits: [RegionEdit], of topics: [String]) -> (taken: [Taken], waiting: [Gateway.Effect]) {
        var byTopic = Dictionary(grouping: edits) { ExactString($0.tracker) }
        var taken: [Taken] = []
        for (tracker, topic) in topics.enumerated() {
            // Edits that are read again may be merged already.
            let new = (byTopic.removeValue(forKey: ExactString(topic)) ?? []).filter { $0.id > last[topic] ?? 0 }
            guard let latest = new.map(\.id).max() else { continue }
            last[topic] = latest
            taken.append(
                Taken(
                    tracker: tracker, changes: new.compactMap(\.regionChange),
                    mark: .editsTaken(topic: topic, upTo: latest)))
        }
        guard !byTopic.isEmpty else { return (taken, []) }
        let count = byTopic.values.reduce(0) { $0 + $1.count }
        let unknown = byTopic.keys.sorted().map(\.text).joined(separator: ", ")
        let text =
            "changes of regions wait (\(count)), as no tracker has the topic \(unknown); they are applied with "
            + "settings that name it"
        return (taken, [.log(LogEntry(.warning, "edits", text))])
    }

    /// The store has a new file, whose edits count anew.
    mutating func forget() { last = [:] }
}
