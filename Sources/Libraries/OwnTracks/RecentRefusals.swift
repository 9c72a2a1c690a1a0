package import Base

/// The last commands and waypoints that a service refused, with their reasons. The log may have dropped the lines, and who sent a
/// command may not have the log.
package struct RecentRefusals: Sendable {
    /// The same refusal, once or repeatedly.
    package struct Refusal: Hashable, Sendable {
        /// Where it came from: a topic.
        package let topic: String
        package let text: String
        package fileprivate(set) var count: UInt64 = 1
        /// When it happened last.
        package fileprivate(set) var last: MonotonicInstant

        package init(topic: String, text: String, count: UInt64 = 1, last: MonotonicInstant) {
            (self.topic, self.text, self.count, self.last) = (topic, text, count, last)
        }
    }

    /// The limit of refusals that are kept.
    package static let most = 20
    /// Characters of a text that are kept. It contains data from outside.
    package static let longestText = 300

    /// The newest first.
    package private(set) var refusals: [Refusal] = []

    package init() {}

    package mutating func add(_ text: String, on topic: String, at now: MonotonicInstant) {
        let text = text.count > Self.longestText ? "\(text.prefix(Self.longestText))…" : text
        var refusal = Refusal(topic: topic, text: text, last: now)
        if let index = refusals.firstIndex(where: { $0.text == text && $0.topic.hasSameBytes(as: topic) }) {
            refusal.count += refusals.remove(at: index).count
        }
        refusals.insert(refusal, at: 0)
        if refusals.count > Self.most { refusals.removeLast() }
    }
}
