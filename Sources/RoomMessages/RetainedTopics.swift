/// What the broker retains of topics that the active service alone writes, as far as it is known.
///
/// A broker may lose what it retained, and another service, or an earlier run, may have left what is not wanted any more.
/// So after each connection the broker's messages are collected first, and then made what they should be.
package struct RetainedTopics: Sendable {
    /// Bytes of topics and payloads: ten thousand tags take a quarter of it. Any client may write more below the site.
    private static let mostBytes = 8 << 20

    private var known: [String: [UInt8]] = [:]
    private var bytes = 0

    package init() {}

    /// The broker has this, or will have it from the outbox. A message for which there is no room is not remembered: it stays
    /// at the broker, or is published once more.
    package mutating func note(_ topic: String, _ payload: [UInt8]) {
        let before = known[topic].map { Self.size(topic, $0) } ?? 0
        let after = payload.isEmpty ? 0 : Self.size(topic, payload)
        guard after == 0 || bytes - before + after <= Self.mostBytes else { return }
        bytes += after - before
        known[topic] = payload.isEmpty ? nil : payload
    }

    private static func size(_ topic: String, _ payload: [UInt8]) -> Int { topic.utf8.count + payload.count + 64 }

    /// The payload that the broker has.
    package func payload(of topic: String) -> [UInt8]? { known[topic] }

    /// Makes the broker's messages what they should be.
    ///
    /// - Parameters:
    ///   - wanted: All topics that should have a message; with nil in place of a payload, whatever they have is right.
    ///   - isAgain: Whether what the broker has already is published once more.
    /// - Returns: What has to be published: first what is no longer wanted, emptied, then what is new or another.
    package mutating func update(
        to wanted: [(topic: String, payload: [UInt8]?)], isAgain: Bool = false
    ) -> [RoomMessage] {
        let topics = Set(wanted.map(\.topic))
        let gone = known.keys.filter { !topics.contains($0) }.sorted()
        for topic in gone { note(topic, []) }
        var messages = gone.map { RoomMessage(topic: $0, payload: [], qos: 1, isRetained: true) }
        for (topic, payload) in wanted {
            guard let payload, isAgain || known[topic] != payload else { continue }
            note(topic, payload)
            messages.append(RoomMessage(topic: topic, payload: payload, qos: 1, isRetained: true))
        }
        return messages
    }
}
