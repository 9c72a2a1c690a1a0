import System

/// An order to the broker's thread.
enum BrokerOrder: Sendable {
    case publish(QueuedPublication)
    /// Replaces the whole set.
    case subscribe(to: Set<String>)
}

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
            guard counts.unanswered < limits.outgoing + limits.inFlight else {
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
    /// changes come no faster than `Backoff` allows. Of received messages the oldest are dropped first.
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
        while incoming.messages > limits.incoming || incoming.bytes > limits.incomingBytes {
            guard let index = events.firstIndex(where: { $0.messageBytes != nil }) else { return }
            incoming.messages -= 1
            incoming.bytes -= events.remove(at: index).messageBytes ?? 0
            counts.dropped += 1
        }
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

    /// Bytes of the message that it brings; nil if it brings none.
    fileprivate var messageBytes: Int? {
        switch self {
        case .message(let message): message.payload.count
        case .decoded(let message): message.byteCount
        default: nil
        }
    }
}
