import Base
import Synchronization
import System

/// Shared by the owner and the broker's thread: two bounded queues of values, each with its own lock.
final class Mailbox: Sendable {
    /// The owner's orders to the thread.
    struct Orders {
        var outgoing: [OutgoingMessage] = []
        /// Replaces the whole set.
        var subscriptions: Set<String>?
        var stopBy: MonotonicInstant?
    }

    private struct Outgoing {
        var orders = Orders()
        /// Messages given and not answered, or the answer not taken yet.
        var open = 0
        var refused = 0
    }

    private struct Incoming {
        var events: [BrokerEvent] = []
        var messages = 0
        var messageBytes = 0
        var dropped = 0
    }

    private let limits: BrokerSettings.QueueLimits
    private let outgoing = Mutex(Outgoing())
    private let incoming = Mutex(Incoming())
    /// Rung for the thread: there are orders.
    let bell: Waker
    private let wakeOwner: @Sendable () -> Void

    init(limits: BrokerSettings.QueueLimits, wake: @escaping @Sendable () -> Void) throws(SystemError) {
        self.limits = limits
        wakeOwner = wake
        bell = try Waker()
    }

    // MARK: The owner's side

    /// false: the queue is full, and the message was not accepted.
    func add(_ message: OutgoingMessage) -> Bool {
        let taken = outgoing.withLock { outgoing in
            guard outgoing.open < limits.outgoing + limits.inFlight else {
                outgoing.refused += 1
                return false
            }
            outgoing.open += 1
            outgoing.orders.outgoing.append(message)
            return true
        }
        if taken { bell.wake() }
        return taken
    }

    func order(_ change: (inout Orders) -> Void) {
        outgoing.withLock { change(&$0.orders) }
        bell.wake()
    }

    func drainEvents() -> [BrokerEvent] {
        let events = incoming.withLock { incoming in
            incoming.messages = 0
            incoming.messageBytes = 0
            return exchange(&incoming.events, with: [])
        }
        let answers = events.count(where: \.isAnswer)
        if answers > 0 { outgoing.withLock { $0.open -= answers } }
        return events
    }

    var counts: BrokerCounts {
        let (open, refused) = outgoing.withLock { ($0.open, $0.refused) }
        return .init(unanswered: open, refused: refused, dropped: incoming.withLock { $0.dropped })
    }

    // MARK: The thread's side

    func drainOrders() -> Orders {
        outgoing.withLock { outgoing in
            // The order to stop is permanent.
            let next = Orders(stopBy: outgoing.orders.stopBy)
            return exchange(&outgoing.orders, with: next)
        }
    }

    /// Answers and changes of the connection are always accepted. There are as many answers as messages, and
    /// changes come no faster than `Backoff` allows. Of received messages the oldest are dropped first.
    func post(_ events: [BrokerEvent], unusableMessages: Int = 0) {
        guard !events.isEmpty || unusableMessages > 0 else { return }
        incoming.withLock { incoming in
            incoming.dropped += unusableMessages
            for event in events {
                incoming.events.append(event)
                guard let bytes = event.messageBytes else { continue }
                incoming.messages += 1
                incoming.messageBytes += bytes
                makeRoom(&incoming)
            }
        }
        wakeOwner()
    }

    private func makeRoom(_ incoming: inout Incoming) {
        while incoming.messages > limits.incoming || incoming.messageBytes > limits.incomingBytes {
            guard let index = incoming.events.firstIndex(where: { $0.messageBytes != nil }) else { return }
            incoming.messages -= 1
            incoming.messageBytes -= incoming.events.remove(at: index).messageBytes ?? 0
            incoming.dropped += 1
        }
    }
}

/// Swift 6.2 has `exchange` only for atomics.
private func exchange<Value>(_ value: inout Value, with new: Value) -> Value {
    let old = value
    value = new
    return old
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
        case .commands(let commands): commands.byteCount
        default: nil
        }
    }
}
