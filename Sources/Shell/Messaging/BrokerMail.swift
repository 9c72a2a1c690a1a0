import System

/// What waits between the broker's thread and its owner.
struct BrokerMail: WorkerMail {
    private let limits: BrokerSettings.QueueLimits
    private var outgoing: [QueuedPublication] = []
    private var subscriptions: Set<String>?
    private var events: [BrokerEvent] = []
    /// Received messages among the events, and their bytes.
    private var incoming = (messages: 0, bytes: 0)
    /// A message is unanswered until the owner has taken the answer.
    var counts = BrokerCounts(unanswered: 0, refused: 0, dropped: 0)

    init(limits: BrokerSettings.QueueLimits) { self.limits = limits }

    mutating func append(_ order: BrokerOrder) -> Bool {
        switch order {
        case .subscribe(let filters): subscriptions = filters
        case .publish(let message):
            let most = limits.outgoing + limits.inFlight + (message.token.isStored ? limits.stored : 0)
            guard counts.unanswered < most else {
                counts.refused += 1
                return false
            }
            counts.unanswered += 1
            outgoing.append(message)
        }
        return true
    }

    /// The orders since the last call.
    mutating func drainOrders() -> (messages: [QueuedPublication], subscriptions: Set<String>?) {
        defer { (outgoing, subscriptions) = ([], nil) }
        return (outgoing, subscriptions)
    }

    /// Answers and changes of the connection are always accepted. There are as many answers as messages, and
    /// changes come no faster than `Backoff` allows. Of received messages the oldest transient ones are dropped first, and
    /// then the oldest others.
    mutating func post(_ events: [BrokerEvent]) {
        for event in events {
            self.events.append(event)
            guard let bytes = event.messageBytes else { continue }
            incoming.messages += 1
            incoming.bytes += bytes
            makeRoom()
        }
    }

    private mutating func makeRoom() {
        guard incoming.messages > limits.incoming || incoming.bytes > limits.incomingBytes else { return }
        // A sixteenth at once: to move ten thousand events for each message of a flood takes all of a processor.
        let most = incoming.messages > limits.incoming ? limits.incoming - limits.incoming / 16 : limits.incoming
        var (left, limits) = (incoming, limits)
        limits.incoming = most
        for isTransient in [true, false] {
            events.removeAll { event in
                guard left.messages > limits.incoming || left.bytes > limits.incomingBytes,
                    let bytes = event.messageBytes, event.isTransient == isTransient
                else { return false }
                left = (left.messages - 1, left.bytes - bytes)
                return true
            }
        }
        counts.dropped += incoming.messages - left.messages
        incoming = left
    }

    mutating func drainEvents() -> [BrokerEvent] {
        defer { (events, incoming) = ([], (0, 0)) }
        counts.unanswered -= events.count(where: \.isAnswer)
        return events
    }
}

extension BrokerEvent {
    fileprivate var isAnswer: Bool {
        switch self {
        case .acknowledged, .refused: true
        default: false
        }
    }

    fileprivate var isTransient: Bool { if case .message(let message) = self { message.isTransient } else { false } }

    /// Bytes of the message that it brings; nil if it brings none.
    fileprivate var messageBytes: Int? {
        switch self {
        case .message(let message): message.payload.count
        case .decoded(let message): message.byteCount
        default: nil
        }
    }
}
