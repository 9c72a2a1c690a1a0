import Base

/// The messages to be sent: those that wait, and those handed to libmosquitto and not acknowledged, in the order in
/// which they were given. Pure: it decides, and the broker's thread acts.
///
/// It also finds a message that the broker rejects without saying so. Before MQTT 5 a broker can only
/// close the connection when a message is too large or not allowed. Sent again on each connection, it would
/// block all that follow for ever.
///
/// A message of the outbox that the broker refuses for a reason that may pass is held and sent again. As long as there is
/// one, messages of the outbox are sent one by one, so that none overtakes another of its topic. The others go on.
struct SendWindow {
    struct Entry {
        var messageID: Int32
        var message: QueuedPublication
    }

    /// What to do when a connection has ended.
    enum Verdict: Hashable {
        case goOn
        /// libmosquitto must drop its messages, so that they can be sent one by one.
        case discardClient
        /// This message was alone in flight when the connection ended once too often. The client is discarded as well.
        case refuse(QueuedPublication, Refusal)
    }

    /// After this many connections in a row that the broker ended with messages in flight and none acknowledged,
    /// messages are sent one by one. A restart of the broker ends one connection like that.
    static let isolateAfter = 2
    /// After this many, the message that was alone in flight is rejected. With the growing delays between attempts, the
    /// broker has had about a minute to recover by then.
    static let rejectAfter = 6

    /// After this many refusals of a message the broker has had half a minute to recover, and each pause is followed by a
    /// message of another topic in turn. A broker that takes one of these and still refuses the message means the message.
    static let probeAfter = 6
    /// After this many, a message is refused for good although the broker took no other: 12 hours if it was the only one,
    /// 24 with others, as a pause has up to 64 s. Twenty such messages, which is all that the outbox gives at a time, would
    /// otherwise hold up the rest for ever. A shorter time would lose messages in an outage of the broker's storage
    /// that a person has to repair.
    static let mostRefusals = 700

    private(set) var waiting: [QueuedPublication] = []
    private(set) var inFlight: [Entry] = []
    /// Messages of the outbox to be sent again, in their order. libmosquitto has none of them.
    private(set) var held: [QueuedPublication] = []
    /// The latest answer to a message of the outbox: the broker took it.
    private var hasTaken = false
    /// The latest message that was sent again was one of another topic.
    private var isProbing = false
    private var failures = 0
    private let limit: Int

    /// - Parameter limit: messages in flight at most, at least 1.
    init(limit: Int) { self.limit = max(1, limit) }

    var isEmpty: Bool { waiting.isEmpty && inFlight.isEmpty && held.isEmpty }

    /// Nothing in flight depends on its packet identifier, as QoS 2 does at a broker that has received it.
    var mayChangeIdentifiers: Bool { inFlight.allSatisfy { $0.message.publication.qos != .exactlyOnce } }

    /// Messages are sent one at a time, and only on a connection that has lasted without them.
    var isIsolating: Bool { failures >= Self.isolateAfter }

    mutating func add(_ messages: [QueuedPublication]) { waiting += messages }

    /// Whether a message of the outbox was refused and not taken since.
    private var isHolding: Bool { !held.isEmpty || inFlight.contains { $0.message.refusals > 0 } }

    /// The next message to hand over; nil if the window is full or none waits.
    ///
    /// - Parameter isPaused: Messages of the outbox that were refused are not sent again now.
    mutating func next(isPaused: Bool = false) -> QueuedPublication? {
        guard inFlight.count < (isIsolating ? 1 : limit) else { return nil }
        guard isHolding else { return waiting.isEmpty ? nil : waiting.removeFirst() }
        if let index = waiting.firstIndex(where: { !$0.token.isStored }) { return waiting.remove(at: index) }
        guard !isPaused, !inFlight.contains(where: \.message.token.isStored), let first = held.first else { return nil }
        isProbing = first.refusals >= Self.probeAfter && !isProbing
        if isProbing, let probe = takeProbe(otherThan: first.publication.topic) { return probe }
        return held.removeFirst()
    }

    /// Removes the message of another topic that was refused least often. It is the first of its topic. Of QoS 0 nothing is
    /// answered.
    private mutating func takeProbe(otherThan topic: String) -> QueuedPublication? {
        var topics: Set = [topic]
        let probe = (held + waiting)
            .filter { topics.insert($0.publication.topic).inserted && $0.publication.qos != .atMostOnce }
            .min { $0.refusals < $1.refusals }
        held.removeAll { $0.token == probe?.token }
        waiting.removeAll { $0.token == probe?.token }
        return probe
    }

    mutating func handedOver(_ message: QueuedPublication, messageID: Int32) {
        inFlight.append(Entry(messageID: messageID, message: message))
    }

    /// libmosquitto did not accept the message. It stays the next one.
    mutating func giveBack(_ message: QueuedPublication) {
        let isHeld = message.token.isStored && (isHolding || message.refusals > 0)
        if isHeld { hold(message) } else { waiting.insert(message, at: 0) }
    }

    /// The message that was acknowledged; nil for an unknown identifier.
    mutating func answered(messageID: Int32) -> QueuedPublication? {
        guard let index = inFlight.firstIndex(where: { $0.messageID == messageID }) else { return nil }
        failures = 0
        return inFlight.remove(at: index).message
    }

    /// The broker refused a message of the outbox for a reason that may pass.
    ///
    /// - Returns: How often it has; nil: once too often, and the message is not held.
    mutating func holdRefused(_ message: QueuedPublication) -> Int? {
        var message = message
        message.refusals += 1
        defer { hasTaken = false }
        guard message.refusals < Self.mostRefusals, message.refusals <= Self.probeAfter || !hasTaken else { return nil }
        hold(message)
        return message.refusals
    }

    /// The broker took a message of the outbox.
    ///
    /// - Returns: Whether it is held: it was in flight together with an earlier message of its topic, which is sent again
    ///   and would arrive last. So it is sent again after that one. A message twice is better than an old state for new.
    mutating func holdTaken(_ message: QueuedPublication) -> Bool {
        // QoS 0 is not answered.
        if message.publication.qos != .atMostOnce { hasTaken = true }
        let isOvertaking = held.contains {
            $0.publication.topic == message.publication.topic && $0.token.rawValue < message.token.rawValue
        }
        if isOvertaking { hold(message) }
        return isOvertaking
    }

    /// The outbox has growing numbers.
    private mutating func hold(_ message: QueuedPublication) {
        held.insert(message, at: held.firstIndex { $0.token.rawValue > message.token.rawValue } ?? held.endIndex)
    }

    /// libmosquitto keeps QoS 1 and 2 and sends them again by itself, but forgets QoS 0 that had not left yet:
    /// those wait again, before all that was given later.
    /// - Parameter byBroker: it was the broker that closed an accepted connection.
    mutating func connectionEnded(byBroker: Bool) -> Verdict {
        let unsent = inFlight.filter { $0.message.publication.qos == .atMostOnce }.map(\.message)
        waiting.insert(contentsOf: unsent, at: 0)
        inFlight.removeAll { $0.message.publication.qos == .atMostOnce }
        guard byBroker, let isolated = inFlight.first else { return .goOn }
        failures += 1
        guard isIsolating else { return .goOn }
        guard failures >= Self.rejectAfter, inFlight.count == 1 else {
            returnAll()
            return .discardClient
        }
        inFlight = []
        let times = failures
        failures = 0
        return .refuse(isolated.message, .endsConnection(times: times))
    }

    /// Removes the transient messages, which expire when a new connection begins.
    mutating func removeTransient() -> [QueuedPublication] {
        let late = waiting.filter { $0.publication.kind == .transient }
        if !late.isEmpty { waiting.removeAll { $0.publication.kind == .transient } }
        return late
    }

    /// Returns the messages in flight to the queue, in their order.
    mutating func returnAll() {
        let isHolding = isHolding
        let messages = inFlight.map(\.message)
        inFlight = []
        // Those that are held may be later ones.
        for message in messages where isHolding && message.token.isStored { hold(message) }
        waiting.insert(contentsOf: messages.filter { !isHolding || !$0.token.isStored }, at: 0)
    }
}
