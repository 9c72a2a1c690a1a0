/// The retained messages of the broker on the topics that only the active service writes, as far as they are known.
///
/// A broker may lose its retained messages, and another service or an earlier run may have left obsolete ones. So after
/// each connection the service first collects the broker's messages and then corrects them.
package struct RetainedTopics: Sendable {
    /// Largest total size of topics and payloads, bytes. Ten thousand tags take a quarter of it. The limit is needed
    /// because any client may write more topics below the site.
    private static let mostBytes = 8 << 20

    private var known: [String: [UInt8]] = [:]
    private var bytes = 0

    package init() {}

    /// Records a message that the broker has, or will get from the outbox. A message beyond `mostBytes` is not
    /// recorded: it stays at the broker, or is published once more.
    package mutating func record(_ topic: String, _ payload: [UInt8]) {
        let before = known[topic].map { Self.size(topic, $0) } ?? 0
        let after = payload.isEmpty ? 0 : Self.size(topic, payload)
        guard after == 0 || bytes - before + after <= Self.mostBytes else { return }
        bytes += after - before
        known[topic] = payload.isEmpty ? nil : payload
    }

    /// In place of a payload that cannot be decrypted. No wanted message has it.
    private static let refused: [UInt8] = [0]

    /// Records a message that cannot be decrypted. It is replaced or deleted, whatever its topic should have.
    package mutating func recordRefused(_ topic: String) { record(topic, Self.refused) }

    private static func size(_ topic: String, _ payload: [UInt8]) -> Int { topic.utf8.count + payload.count + 64 }

    /// The payload that the broker has.
    package func payload(of topic: String) -> [UInt8]? { known[topic] }

    /// Computes the messages that correct the broker's retained ones.
    ///
    /// - Parameters:
    ///   - wanted: All topics that should have a message. With nil in place of the payload, any payload is right.
    ///   - isAgain: Whether messages that the broker already has are published once more.
    /// - Returns: The messages to publish: first empty ones for obsolete topics, then new and changed ones.
    package mutating func update(
        to wanted: [(topic: String, payload: [UInt8]?)], isAgain: Bool = false
    ) -> [RoomMessage] {
        let topics = Set(wanted.map(\.topic))
        let gone = known.keys.filter { !topics.contains($0) }.sorted()
        for topic in gone { record(topic, []) }
        var messages = gone.map { RoomMessage(topic: $0, payload: [], qos: 1, isRetained: true) }
        for (topic, payload) in wanted {
            guard let payload = payload ?? (known[topic] == Self.refused ? [] : nil), isAgain || known[topic] != payload
            else { continue }
            record(topic, payload)
            messages.append(RoomMessage(topic: topic, payload: payload, qos: 1, isRetained: true))
        }
        return messages
    }
}
