package import Base

/// Descriptions of entities that were removed, kept until Home Assistant has certainly removed the entities.
///
/// Home Assistant remembers a discovered entity across its own restarts. It drops the entity only if the removal (an
/// empty description) arrives while it has that description loaded. A removal that was published while Home Assistant
/// was off therefore leaves an orphan. At Home Assistant's next birth message the old description is published again,
/// and emptied after `delay`: Home Assistant loads the entity, and then removes it. Tried with 2024.3 and 2026.11.
///
/// The list lives as long as the program. A gateway that restarts between the removal and the birth forgets it.
package struct RemovedDescriptions: Sendable {
    /// The limit of remembered descriptions, about a kilobyte each. Further ones are not remembered.
    package static let limit = 1_000
    /// Bytes of a description that is remembered. Any client may have published a longer one.
    package static let mostBytes = 16_384
    /// The time that Home Assistant takes to load a description.
    package static let delay: Duration = .seconds(3)

    /// Payloads by topic.
    private var payloads: [String: String] = [:]
    /// When the payloads were published again; nil while they wait for a birth message.
    private var shown: MonotonicInstant?

    package init() {}

    /// Remembers a description that was emptied.
    package mutating func add(_ topic: String, payload: String) {
        guard payloads.count < Self.limit, !payload.isEmpty, payload.utf8.count <= Self.mostBytes else { return }
        payloads[topic] = payload
    }

    /// Forgets a description that is in force again.
    package mutating func remove(_ topic: String) { payloads[topic] = nil }

    /// The old descriptions, to be published after a birth message.
    package mutating func messagesAtBirth(at now: MonotonicInstant) -> [Publication] {
        guard !payloads.isEmpty else { return [] }
        shown = now
        return payloads.sorted { $0.key < $1.key }.map { .homeAssistant($0.key, $0.value) }
    }

    /// The removals of what was published at the birth, once `delay` has passed.
    package mutating func messagesDue(at now: MonotonicInstant) -> [Publication] {
        guard let shown, shown.duration(to: now) >= Self.delay else { return [] }
        defer { (payloads, self.shown) = ([:], nil) }
        return payloads.keys.sorted().map { .homeAssistant($0, "") }
    }
}
