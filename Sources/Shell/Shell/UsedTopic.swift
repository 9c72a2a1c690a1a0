package import Base

/// A topic, or a pattern of topics, that a service uses at its broker: what `doctor` tests and `acl` prints, as a line of the broker's
/// access list.
package struct UsedTopic: Hashable, Sendable {
    package enum Access: String, Sendable {
        case read, write, readwrite

        package var reads: Bool { self != .write }
        package var writes: Bool { self != .read }
    }

    /// As in an access list, with `+` and `#`.
    package var pattern: String
    package var access: Access
    /// What the service does there, for a person who grants the right.
    package var purpose: String
    /// Filters that the service subscribes to there.
    package var filters: [String]
    /// Messages that show whether the broker takes what the service sends there. Nobody acts on them.
    package var probes: [Publication]
    /// Whether something is missing without the right.
    package var isNeeded: Bool

    /// - Parameter filters: nil: the pattern, if it is read.
    package init(
        _ access: Access, _ pattern: String, _ purpose: String, filters: [String]? = nil, probes: [Publication] = [],
        isNeeded: Bool = true
    ) {
        (self.access, self.pattern, self.purpose) = (access, pattern, purpose)
        (self.probes, self.isNeeded) = (probes, isNeeded)
        self.filters = filters ?? (access.reads ? [pattern] : [])
    }

    /// The line of mosquitto's `acl_file` that gives the right. Those of other brokers have the same three parts.
    package var line: String { "topic \(access.rawValue) \(pattern)" }
}
