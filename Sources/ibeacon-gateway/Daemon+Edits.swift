internal import Gateway
internal import OwnTracks
internal import Regions
internal import Runtime
internal import Storage

/// Changes of regions that the command line makes while the service runs, or before it starts.
extension Daemon {
    /// The topics that the service has regions for, as it keeps them for the command line: a JSON array.
    static let servedTopicsKey = "served topics"

    /// Takes them over as if a command had brought them. What follows from them (a leave, say) and that they are
    /// done go to the disk together: so each counts once, whenever the power fails. What is for a topic that no
    /// tracker has stays on the disk, and waits for settings that name it.
    func take(_ edits: [RegionEdit]) {
        guard !edits.isEmpty else { return }
        let now = Clocks.now()
        let byTopic = Dictionary(grouping: edits, by: \.tracker)
        var effects: [Effect] = []
        var taken: [StoreChange] = []
        for (tracker, state) in gateway.trackers.enumerated() {
            let topic = state.topics.base
            // Edits that were read again may have been on their way already.
            let new = byTopic[topic, default: []].filter { $0.id > lastEdits[topic] ?? 0 }
            guard let last = new.map(\.id).max() else { continue }
            lastEdits[topic] = last
            effects += gateway.change(new.map(\.change), of: tracker, at: now)
            taken.append(.editsTaken(tracker: topic, upTo: last))
        }
        perform(effects, also: taken)
        armDeadline()
        let served = Set(gateway.trackers.map(\.topics.base))
        let others = edits.filter { !served.contains($0.tracker) }
        guard !others.isEmpty else { return }
        let topics = Set(others.map(\.tracker)).sorted().joined(separator: ", ")
        log.once(
            "edits", .warning,
            "changes of regions wait (\(others.count)), as no tracker has the topic \(topics); they are taken with "
                + "settings that name it")
    }

    /// Settings changed: there may be a tracker now for what waited.
    func serveWaitingEdits() {
        tellServedTopics(known: nil)
        store?.submit(.rereadEdits)
    }

    var servedTopics: [UInt8] {
        JSONValue.array(gateway.trackers.map { .string($0.topics.base) }).bytes
    }

    /// - Parameter known: What the disk has; nil: not known.
    func tellServedTopics(known: [UInt8]?) {
        guard known != servedTopics else { return }
        commit([.value(key: Self.servedTopicsKey, servedTopics)])
    }

    /// What a service told when it was started or reloaded last; nil if none ever was.
    static func servedTopics(in reader: borrowing StoreReader) -> [String]? {
        guard let bytes = try? reader.value(of: servedTopicsKey), let json = try? JSONValue(parsing: bytes) else {
            return nil
        }
        return json.array?.compactMap(\.string)
    }
}
