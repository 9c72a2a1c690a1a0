import Base

/// Messages of the outbox that the broker refused for a reason that may pass (MQTT 5), and when they are sent again. Pure.
///
/// The broker may mean all messages for a while, those of some topics, or one message for ever, and it does not say which.
/// So a message that is held delays the later messages of its topic and no others. All that are held share one pause, which
/// grows with each refusal, and are tried in turn: of each topic the first, and of these the one whose latest refusal is longest ago.
struct HeldMessages {
    /// A message that was never refused waits at most so long after a refusal. If the broker refuses everything, all that is
    /// new is tried at this pace.
    static let freshPause: Duration = .seconds(2)
    /// At the first refusal after so many contrasts (`Evidence.contrasts`) a message is refused for good. A broker whose quota admits
    /// half of the messages at random makes each contrast with a chance of one in five, so it refuses one message in 16,000 for
    /// good.
    static let mostContrasts = 6
    /// A topic counts as the reason only for so long after the broker last took a message. Later it may refuse everything.
    static let proofLasts: Duration = .seconds(600)
    /// A message, or a topic while others are taken, is refused for good when it has been refused for so long and so often, although
    /// nothing shows that it alone is the reason. A shorter time would lose messages in an outage of the broker's storage that a
    /// person has to repair.
    static let longest: Duration = .seconds(86_400)
    static let fewestRefusals = 20
    /// Topics of which the refusals are remembered.
    static let mostTopics = 1_000

    /// What the refusals of a topic say since a message of it was taken. States say nothing, and are not refused for good before
    /// `longest`: the last one of a topic may be all that is known of a region, and a later one replaces it.
    private struct Evidence {
        var refusals = Refusals()
        /// How often the broker took a message of another topic just before it refused one of this topic, and another just after,
        /// and refused none of other topics between.
        var contrasts = 0
    }

    /// In the order of their numbers. libmosquitto has none of them.
    private(set) var messages: [QueuedPublication] = []
    private var pauses: Backoff
    /// Until then none of them is sent.
    private var pausedUntil = MonotonicInstant.zero
    /// Until then no message is sent that was never refused.
    private var freshPausedUntil = MonotonicInstant.zero
    /// The latest answer to a message of the outbox that is no state: the broker took it.
    private var hasTaken = false
    /// When the broker last took one.
    private var lastTaken: MonotonicInstant?
    /// The topic that was refused just after another one was taken, if no other was refused since.
    private var suspect: String?
    /// By topic. It outlives a message that is refused for good, so that the next one of its topic needs no new proof.
    private var evidence: [String: Evidence] = [:]

    init(firstPause: Duration) { pauses = Backoff(from: firstPause) }

    var isEmpty: Bool { messages.isEmpty }

    /// Whether an earlier message of the topic is held.
    func delays(_ topic: String) -> Bool { messages.contains { $0.publication.topic == topic } }

    /// Holds a message. The outbox has growing numbers.
    mutating func hold(_ message: QueuedPublication) {
        let index = messages.firstIndex { $0.token.rawValue > message.token.rawValue }
        messages.insert(message, at: index ?? messages.endIndex)
    }

    /// Removes the message to be sent again now, if one is due.
    mutating func takeDue(at now: MonotonicInstant) -> QueuedPublication? {
        guard now >= pausedUntil else { return nil }
        var topics: Set<String> = []
        let firsts = messages.indices.filter { topics.insert(messages[$0].publication.topic).inserted }
        return firsts.min { messages[$0].refusals.latest < messages[$1].refusals.latest }.map {
            messages.remove(at: $0)
        }
    }

    /// Removes from a queue the first message whose topic no other delays, if it may be sent now.
    ///
    /// - Parameter isState: Whether it is a state. States give way to all others: many of them may be refused, and a later one
    ///   replaces an earlier one.
    mutating func takeFresh(
        from waiting: inout [QueuedPublication], isState: Bool, at now: MonotonicInstant
    ) -> QueuedPublication? {
        guard now >= freshPausedUntil, !waiting.isEmpty else { return nil }
        var topics = Set(messages.map(\.publication.topic))
        // An earlier message of the queue goes before a later one of its topic.
        for index in waiting.indices where topics.insert(waiting[index].publication.topic).inserted {
            if (waiting[index].publication.kind == .state) == isState { return waiting.remove(at: index) }
        }
        return nil
    }

    /// Removes the messages that a later one of their topic replaces, as the outbox does with those that were not sent.
    ///
    /// - Parameter waiting: Later messages.
    mutating func removeReplaced(by waiting: [QueuedPublication]) -> [QueuedPublication] {
        guard !messages.isEmpty else { return [] }
        var later = Set(waiting.compactMap(\.publication.replacement))
        var replaced: [QueuedPublication] = []
        for index in messages.indices.reversed() {
            guard let replacement = messages[index].publication.replacement, !later.insert(replacement).inserted
            else { continue }
            replaced.append(messages.remove(at: index))
        }
        return replaced
    }

    /// The broker refused the message.
    ///
    /// - Returns: How often it has; nil: once too often, and the message is not held.
    mutating func refused(_ message: QueuedPublication, at now: MonotonicInstant) -> Int? {
        var message = message
        let isOld = message.refusals.add(at: now)
        // A topic that is the reason holds up nothing.
        if message.publication.kind != .state, isGuilty(message.publication.topic, at: now) { return nil }
        // The others that were in flight with it are refused as well, and belong to the same pause.
        if now >= pausedUntil { pausedUntil = now.advanced(by: pauses.nextDelay()) }
        freshPausedUntil = min(pausedUntil, now.advanced(by: Self.freshPause))
        guard !isOld else { return nil }
        hold(message)
        return message.refusals.count
    }

    /// Records a refusal of a topic.
    ///
    /// - Returns: Whether the topic is the reason: others are taken.
    private mutating func isGuilty(_ topic: String, at now: MonotonicInstant) -> Bool {
        if hasTaken { suspect = topic } else if suspect != topic { suspect = nil }
        hasTaken = false
        if evidence.count >= Self.mostTopics { evidence = [:] }
        var known = evidence[topic] ?? Evidence()
        let isOld = known.refusals.add(at: now)
        evidence[topic] = known
        guard let lastTaken, lastTaken.duration(to: now) <= Self.proofLasts else { return false }
        return isOld || known.contrasts >= Self.mostContrasts
    }

    /// The broker took the message.
    ///
    /// - Returns: Whether it is held: it was in flight together with an earlier message of its topic, which is sent again
    ///   and would arrive last. So it is sent again after that one. A message twice is better than an old state for new.
    mutating func taken(_ message: QueuedPublication, at now: MonotonicInstant) -> Bool {
        // QoS 0 is not answered.
        if message.publication.qos != .atMostOnce {
            if message.publication.kind != .state {
                if let suspect { evidence[suspect]?.contrasts += 1 }
                evidence[message.publication.topic] = nil
                (hasTaken, lastTaken, suspect) = (true, now, nil)
            }
            pauses.reset()
            // What was refused goes at once if it is taken now, and otherwise after the shortest pause.
            pausedUntil = message.refusals.count > 0 ? now : min(pausedUntil, now.advanced(by: pauses.delay))
            freshPausedUntil = now
        }
        let isOvertaking = messages.contains {
            $0.publication.topic == message.publication.topic && $0.token.rawValue < message.token.rawValue
        }
        if isOvertaking { hold(message) }
        return isOvertaking
    }
}
