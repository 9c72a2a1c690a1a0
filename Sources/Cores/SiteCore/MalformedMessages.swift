package import Base
import SiteProtocol

/// The messages that could not be read, by their topics: any client may write there, and who does is found by the topic.
package struct MalformedMessages: Sendable {
    /// Largest number of topics that are named. Of more, those are left out whose last message is the oldest.
    package static let most = 20

    /// Longest name of a topic, Unicode scalars.
    private static let mostCharacters = 160

    package struct Topic: Hashable, Sendable {
        package let name: String
        /// What is wrong with the last message.
        package var reason: String
        package var count: UInt64
        package var last: MonotonicInstant
    }

    /// All messages, also on topics that are not named.
    package private(set) var count: UInt64 = 0
    /// The topics, in the order in which they came.
    package private(set) var topics: [Topic] = []

    package init() {}

    /// A topic as it is shown: any client may choose a long one.
    package static func shown(_ topic: String) -> String {
        let scalars = topic.unicodeScalars.prefix(mostCharacters + 1)
        guard scalars.count > mostCharacters else { return topic }
        return String(String.UnicodeScalarView(scalars.dropLast())) + "…"
    }

    mutating func record(_ error: FeedError, topic: String, at now: MonotonicInstant) {
        count += 1
        let topic = Self.shown(topic)
        if let known = topics.firstIndex(where: { $0.name == topic }) {
            topics[known].count += 1
            (topics[known].reason, topics[known].last) = (error.description, now)
            return
        }
        if topics.count == Self.most, let oldest = topics.indices.min(by: { topics[$0].last < topics[$1].last }) {
            topics.remove(at: oldest)
        }
        topics.append(Topic(name: topic, reason: error.description, count: 1, last: now))
    }
}
