import Base

/// Messages of the outbox that the broker refused for a reason that may pass (MQTT 5), and when they are sent again. Pure.
///
/// The broker may mean all messages for a while, those of some topics, or one message for ever, and it does not say which.
/// So a message that is held delays the later messages of its topic and no others. All that are held share one pause, which
/// grows with each refusal, and are tried in turn: of each topic the first, and of these the one that was refused least often.
struct HeldMessages {
    /// A message that was never refused waits at most so long after a refusal. If the broker refuses everything, all that is
    /// new is tried at this pace.
    static let freshPause: Duration = .seconds(2)
    /// A message is refused for good after so many contrasts (`Refusals.contrasts`). A broker whose quota
    /// admits some messages and refuses others makes contrasts by chance. With a message of every two admitted, a chance of one in
    /// five remains for each, so one message in 16,000 is lost.
    static let mostContrasts = 6
    /// A message is refused for good when it has been refused for so long and so often, although no other proves it guilty. A
    /// shorter time would lose messages in an outage of the broker's storage that a person has to repair.
    static let longest: Duration = .seconds(86_400)
    static let fewestRefusals = 20

    /// In the order of their numbers. libmosquitto has none of them.
    private(set) var messages: [QueuedPublication] = []
    private var pauses: Backoff
    /// Until then none of them is sent.
    private var pausedUntil = MonotonicInstant.zero
    /// Until then no message is sent that was never refused.
    private var isFreshPausedUntil = MonotonicInstant.zero
    /// The latest answer to a message of the outbox: the broker took it.
    private var hasTaken = false
    /// The message that was refused just after another one was taken, if no other was refused since.
    private var suspect: MessageToken?

    init(firstPause: Duration) { pauses = Backoff(from: firstPause) }

    var isEmpty: Bool { messages.isEmpty }

    /// Whether an earlier message of the topic is held.
    func delays(_ topic: String) -> Bool { messages.contains { $0.publication.topic == topic } }

    /// Holds a message. The outbox has growing numbers.
    mutating func hold(_ message: QueuedPublication) {
        let place = messages.firstIndex { $0.token.rawValue > message.token.rawValue }
        messages.insert(message, at: place ?? messages.endIndex)
    }

    /// Removes the message to be sent again now, if one is due.
    mutating func takeDue(at now: MonotonicInstant) -> QueuedPublication? {
        guard now >= pausedUntil else { return nil }
        var topics: Set<String> = []
        let firsts = messages.indices.filter { topics.insert(messages[$0].publication.topic).inserted }
        return firsts.min { messages[$0].refusals.count < messages[$1].refusals.count }.map { messages.remove(at: $0) }
    }

    /// Removes from a queue the first message whose topic no other delays, if it may be sent now. States give way to all
    /// others: many of them may be refused, and a later one replaces an earlier one.
    mutating func takeFresh(from waiting: inout [QueuedPublication], at now: MonotonicInstant) -> QueuedPublication? {
        guard now >= isFreshPausedUntil, !waiting.isEmpty else { return nil }
        var topics = Set(messages.map(\.publication.topic))
        // An earlier message of the queue goes before a later one of its topic.
        let free = waiting.indices.filter { topics.insert(waiting[$0].publication.topic).inserted }
        let place = free.first { waiting[$0].publication.kind != .state } ?? free.first
        return place.map { waiting.remove(at: $0) }
    }

    /// The broker refused the message.
    ///
    /// - Returns: How often it has; nil: once too often, and the message is not held.
    mutating func refused(_ message: QueuedPublication, at now: MonotonicInstant) -> Int? {
        var message = message
        let since = message.refusals.since ?? now
        message.refusals.since = since
        message.refusals.count += 1
        if hasTaken { suspect = message.token } else if suspect != message.token { suspect = nil }
        hasTaken = false
        // The others that were in flight with it are refused as well, and belong to the same pause.
        if now >= pausedUntil { pausedUntil = now.advanced(by: pauses.nextDelay()) }
        isFreshPausedUntil = min(pausedUntil, now.advanced(by: Self.freshPause))
        let isOld = message.refusals.count >= Self.fewestRefusals && since.duration(to: now) >= Self.longest
        guard message.refusals.contrasts < Self.mostContrasts, !isOld else {
            suspect = nil
            return nil
        }
        hold(message)
        return message.refusals.count
    }

    /// The broker took the message.
    ///
    /// - Returns: Whether it is held: it was in flight together with an earlier message of its topic, which is sent again
    ///   and would arrive last. So it is sent again after that one. A message twice is better than an old state for new.
    mutating func taken(_ message: QueuedPublication, at now: MonotonicInstant) -> Bool {
        // QoS 0 is not answered.
        if message.publication.qos != .atMostOnce {
            if let place = messages.firstIndex(where: { $0.token == suspect }) {
                messages[place].refusals.contrasts += 1
            }
            (hasTaken, suspect) = (true, nil)
            pauses.reset()
            // What was refused goes at once if it is taken now, and otherwise after the shortest pause.
            pausedUntil = message.refusals.count > 0 ? now : min(pausedUntil, now.advanced(by: pauses.delay))
            isFreshPausedUntil = now
        }
        let isOvertaking = messages.contains {
            $0.publication.topic == message.publication.topic && $0.token.rawValue < message.token.rawValue
        }
        if isOvertaking { hold(message) }
        return isOvertaking
    }
}

/// What a broker has answered to one message, for reasons that may pass.
struct Refusals: Hashable, Sendable {
    /// How often it has refused the message.
    var count = 0
    /// When it first did.
    var since: MonotonicInstant?
    /// How often it took a message just before it refused this one, and another just after, and refused none between
    /// but this one.
    var contrasts = 0
}
