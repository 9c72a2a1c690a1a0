import Base

/// The messages to be sent: those that wait, and those handed to libmosquitto and not acknowledged, in the order in
/// which they were given. Pure: it decides, and the broker's thread acts.
///
/// It also finds a message that the broker refuses without saying so. Before MQTT 5 a broker can only
/// close the connection when a message is too large or not allowed. Sent again on each connection, it would
/// block all that follow for ever, so it is sent after them (`SuspectedMessages`).
///
/// A message of the outbox that the broker refuses for a reason that may pass is held and sent again (`HeldMessages`). As long
/// as there is one, messages of the outbox are sent one by one, so that none overtakes another of its topic.
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

    private(set) var waiting: [QueuedPublication] = []
    private(set) var inFlight: [Entry] = []
    var held: HeldMessages
    private var suspected = SuspectedMessages()
    private var failures = 0
    private let limit: Int

    /// - Parameters:
    ///   - limit: messages in flight at most, at least 1.
    ///   - firstPause: The shortest pause before a message that was refused is sent again.
    init(limit: Int, firstPause: Duration = Backoff.first) {
        self.limit = max(1, limit)
        held = HeldMessages(firstPause: firstPause)
    }

    var isEmpty: Bool { waiting.isEmpty && inFlight.isEmpty && held.isEmpty && suspected.isEmpty }

    /// Whether nothing is lost if the connection ends now. What waits for a broker that refuses messages stays in the outbox,
    /// and what ends each connection would end this one.
    var mayEnd: Bool { inFlight.isEmpty && !waiting.contains { !isHolding || !$0.token.isStored } }

    /// Nothing in flight depends on its packet identifier, as QoS 2 does at a broker that has received it.
    var mayChangeIdentifiers: Bool { inFlight.allSatisfy { $0.message.publication.qos != .exactlyOnce } }

    /// Messages are sent one at a time, and only on a connection that has lasted without them.
    var isIsolating: Bool { failures >= Self.isolateAfter || !suspected.isEmpty }

    mutating func add(_ messages: [QueuedPublication]) { waiting += suspected.adopt(messages) }

    /// Whether a message of the outbox was refused and not taken since.
    private var isHolding: Bool { !held.isEmpty || inFlight.contains { $0.message.refusals.count > 0 } }

    /// The next message to hand over; nil if the window is full or none is due.
    mutating func next(at now: MonotonicInstant) -> QueuedPublication? {
        guard inFlight.count < (isIsolating ? 1 : limit) else { return nil }
        return nextUnsuspected(at: now) ?? suspected.next()
    }

    private mutating func nextUnsuspected(at now: MonotonicInstant) -> QueuedPublication? {
        guard isHolding else { return waiting.isEmpty ? nil : waiting.removeFirst() }
        if let index = waiting.firstIndex(where: { !$0.token.isStored }) { return waiting.remove(at: index) }
        guard !inFlight.contains(where: \.message.token.isStored) else { return nil }
        return held.takeFresh(from: &waiting, isState: false, at: now) ?? held.takeDue(at: now)
            ?? held.takeFresh(from: &waiting, isState: true, at: now)
    }

    /// Removes the messages that need not be sent again, because a later one of their topic replaces them.
    mutating func removeReplaced() -> [QueuedPublication] { held.removeReplaced(by: waiting) }

    mutating func handedOver(_ message: QueuedPublication, messageID: Int32) {
        inFlight.append(Entry(messageID: messageID, message: message))
    }

    /// libmosquitto did not accept the message. It stays the next one.
    mutating func giveBack(_ message: QueuedPublication) {
        if suspected.giveBack(message) { return }
        if isHeld(message) { held.hold(message) } else { waiting.insert(message, at: 0) }
    }

    /// Whether a message that comes back has its place among those that are held, which may be later ones.
    private func isHeld(_ message: QueuedPublication) -> Bool {
        message.token.isStored && (message.refusals.count > 0 || held.delays(message.publication.topic))
    }

    /// The message that was acknowledged; nil for an unknown identifier.
    mutating func answered(messageID: Int32) -> QueuedPublication? {
        guard let index = inFlight.firstIndex(where: { $0.messageID == messageID }) else { return nil }
        failures = 0
        let message = inFlight.remove(at: index).message
        waiting.insert(contentsOf: suspected.answered(message), at: 0)
        return message
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
        guard inFlight.count == 1 else {
            returnAll()
            return .discardClient
        }
        inFlight = []
        // Later ends are those of other messages.
        let ends = min(failures, Self.isolateAfter + 1)
        guard let times = suspected.connectionEnded(with: isolated.message, after: ends) else {
            waiting = suspected.adopt(waiting)
            return .discardClient
        }
        failures = 0
        return .refuse(isolated.message, .endsConnection(times: times))
    }

    /// Removes the transient messages, which expire when a new connection begins.
    mutating func removeTransient() -> [QueuedPublication] {
        let late = waiting.filter { $0.publication.kind == .transient }
        if !late.isEmpty { waiting.removeAll { $0.publication.kind == .transient } }
        return late + suspected.removeTransient()
    }

    /// Returns the messages in flight to the queue, in their order.
    mutating func returnAll() {
        suspected.returnAll()
        let messages = inFlight.map(\.message).filter { !suspected.contains($0) }
        inFlight = []
        for message in messages where message.refusals.count > 0 { held.hold(message) }
        // The others of their topics wait with them.
        for message in messages where message.refusals.count == 0 && isHeld(message) { held.hold(message) }
        waiting.insert(contentsOf: messages.filter { !isHeld($0) }, at: 0)
    }
}
