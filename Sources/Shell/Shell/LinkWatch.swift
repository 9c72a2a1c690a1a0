import Base
package import Health
import Messaging
package import Storage

/// The state of broker and store for the page of a service.
package struct LinkWatch {
    package private(set) var broker: BrokerWatch
    /// Why the state cannot be written; nil if it can.
    package private(set) var storeProblem: String?
    /// What is refused on all connections of the service.
    package var refusals = RefusalRecord()
    /// Messages of the outbox that the broker acknowledged.
    private var sent: UInt64 = 0

    init(at now: MonotonicInstant) { broker = BrokerWatch(at: now) }

    /// A new connection begins, possibly with other settings.
    mutating func connects(at now: MonotonicInstant) {
        broker.connects(at: now)
        refusals.forget(BrokerSettings.main)
        refusals.forget(BrokerSettings.readings)
    }

    /// A message of the outbox went to the broker's thread.
    mutating func handedOver(_ token: Int64, on topic: String, at now: MonotonicInstant) {
        broker.handedOver(token, on: topic, at: now)
    }

    /// As of `BrokerWatch`.
    mutating func readmitsLimited(at now: MonotonicInstant) -> Bool { broker.readmitsLimited(at: now) }

    /// - Returns: Whether the page shows it at once.
    mutating func record(_ event: BrokerEvent, at now: MonotonicInstant) -> Bool {
        if case .acknowledged(let token) = event, token.isStored { sent += 1 }
        return broker.record(event, at: now)
    }

    /// Whether something else than a broker that is away may be the reason: a second connection fails while the first one stands,
    /// and not for the first time, because a broker that ends all connections ends them one after the other.
    ///
    /// - Parameter isConnected: Whether the first one stands.
    func isAlone(_ refused: Refused, isConnected: Bool) -> Bool {
        guard refused.kind == .connection, !refused.isOfMain else { return true }
        return isConnected && refusals.isRefused(refused)
    }

    mutating func record(_ event: StoreEvent) {
        switch event {
        case .unavailable(let failure), .troubled(let failure): storeProblem = "\(failure.error)"
        case .recovered, .opened: storeProblem = nil
        case .failed, .stateLost, .kept, .deliver, .regionEdits, .notice, .stopped: break
        }
    }

    /// - Parameter counters: nil: the store was not opened yet.
    package func queue(_ counters: StoreCounters?) -> QueueState {
        guard let counters else { return QueueState() }
        return QueueState(
            pending: counters.outboxRows + counters.pending, refused: Int(clamping: counters.refusedRows),
            dropped: counters.dropped.total, sent: sent)
    }
}

extension Refused {
    /// Whether it is the first connection itself. Its state has a line of its own in the log and on the page.
    var isOfMain: Bool { connection == BrokerSettings.main && (kind == .connection || kind == .clientID) }
}
