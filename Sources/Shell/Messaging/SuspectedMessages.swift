import Base

/// Messages that were alone in flight when the broker ended the connection, and the later ones of their topics. Pure.
///
/// Before MQTT 5 a broker can only close the connection at a message that it does not allow or that is too large. Such a
/// message must not hold up the others, and an outage of the broker must cost no message. So a suspected message is sent when no other
/// one is due, and the connections that end with it alone are counted: it is refused sooner if the broker took another message between.
struct SuspectedMessages {
    /// A message is refused after so many ends of connections if the broker took no other message since it is suspected. With the
    /// growing delays between attempts, the broker has had about a minute to recover by then.
    static let endsWithoutContrast = 6
    /// A message is refused after so many ends if the broker took another message since it is suspected.
    static let endsWithContrast = 4
    /// Topics that are remembered. The next message of such a topic needs one end, and another message that is taken.
    static let mostTopics = 64

    private struct Suspect {
        let message: QueuedPublication
        /// Connections that the broker ended while the message was in flight.
        var ends: Int
        /// Whether the broker took another message since.
        var hasContrast = false
        /// Later messages of its topic. None overtakes it.
        var followers: [QueuedPublication] = []
        /// Whether libmosquitto has the message.
        var isInFlight = false
    }

    /// In the order in which they are to be tried: the one that was tried last is the last.
    private var suspects: [Suspect] = []
    /// Topics of which a message was refused while others were taken, and none was taken since; the oldest first.
    private var provenTopics: [String] = []

    var isEmpty: Bool { suspects.isEmpty }

    /// Takes those that have to wait for a suspected one of their topic.
    ///
    /// - Returns: The others, in their order.
    mutating func adopt(_ messages: [QueuedPublication]) -> [QueuedPublication] {
        guard !suspects.isEmpty || !provenTopics.isEmpty else { return messages }
        return messages.filter { message in
            let topic = message.publication.topic
            if let index = suspects.firstIndex(where: { $0.message.publication.topic == topic }) {
                suspects[index].followers.append(message)
            } else if provenTopics.contains(topic), message.publication.qos != .atMostOnce {
                suspects.append(Suspect(message: message, ends: 0))
            } else {
                return true
            }
            return false
        }
    }

    /// The next one to be sent alone; nil: there is none.
    mutating func next() -> QueuedPublication? {
        guard let first = suspects.first, !first.isInFlight else { return nil }
        suspects[0].isInFlight = true
        return first.message
    }

    /// libmosquitto did not accept the message.
    ///
    /// - Returns: Whether it is one of these.
    mutating func giveBack(_ message: QueuedPublication) -> Bool {
        guard let index = index(of: message) else { return false }
        suspects[index].isInFlight = false
        return true
    }

    /// The connection ended, and libmosquitto drops what it has.
    mutating func returnAll() { for index in suspects.indices { suspects[index].isInFlight = false } }

    /// Whether the message is one of these.
    func contains(_ message: QueuedPublication) -> Bool { index(of: message) != nil }

    /// The broker ended the connection while this message was alone in flight.
    ///
    /// - Parameter ends: How many connections in a row ended with this message in flight, if it was not suspected before.
    /// - Returns: After how many ends it is refused; nil: it is kept, and others go first.
    mutating func connectionEnded(with message: QueuedPublication, after ends: Int) -> Int? {
        var suspect = Suspect(message: message, ends: ends - 1)
        if let index = index(of: message) { suspect = suspects.remove(at: index) }
        suspect.ends += 1
        suspect.isInFlight = false
        guard suspect.ends >= limit(of: suspect) else {
            suspects.append(suspect)
            return nil
        }
        if suspect.hasContrast { remember(message.publication.topic) }
        // The next one of the topic is tried on its own; it may be allowed.
        if let next = suspect.followers.first {
            let followers = Array(suspect.followers.dropFirst())
            suspects.append(Suspect(message: next, ends: 0, hasContrast: suspect.hasContrast, followers: followers))
        }
        return suspect.ends
    }

    private func limit(of suspect: Suspect) -> Int {
        guard suspect.hasContrast else { return Self.endsWithoutContrast }
        return provenTopics.contains(suspect.message.publication.topic) ? 1 : Self.endsWithContrast
    }

    private mutating func remember(_ topic: String) {
        provenTopics.removeAll { $0 == topic }
        provenTopics.append(topic)
        if provenTopics.count > Self.mostTopics { provenTopics.removeFirst() }
    }

    /// The broker answered a message, which may be none of these.
    ///
    /// - Returns: The messages that waited for it.
    mutating func answered(_ message: QueuedPublication) -> [QueuedPublication] {
        provenTopics.removeAll { $0 == message.publication.topic }
        let own = index(of: message).map { suspects.remove(at: $0) }
        // QoS 0 is not answered, so it shows nothing.
        if message.publication.qos != .atMostOnce {
            for index in suspects.indices { suspects[index].hasContrast = true }
        }
        return own?.followers ?? []
    }

    /// Removes the transient ones, which expire when a new connection begins. The messages of one topic are all of one kind.
    mutating func removeTransient() -> [QueuedPublication] {
        let late = suspects.filter { $0.message.publication.kind == .transient }
        if !late.isEmpty { suspects.removeAll { $0.message.publication.kind == .transient } }
        return late.flatMap { [$0.message] + $0.followers }
    }

    private func index(of message: QueuedPublication) -> Int? {
        suspects.firstIndex { $0.message.token == message.token }
    }
}
