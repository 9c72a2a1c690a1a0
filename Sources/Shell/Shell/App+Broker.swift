import Base
import Configuration
import Messaging
import Storage

/// The connection to the broker.
extension App {
    /// Connects with the settings in force.
    package func connect() {
        timers.connect?.disarm()
        let now = host.now
        guard let owner, var request = owner.connection(at: now) else { return }
        request.settings.hasOutbox = true
        request.settings.limits.stored = Delivery.wideWindow
        watch.connects(at: now)
        do {
            try links.broker.open(request.settings, filters: request.filters, read: request.read) { [unowned self] in
                handleBrokerEvents()
            }
            try owner.opened()
        } catch {
            // A part of the links may be open, and without its thread it would never report anything.
            disconnect()
            let failure = BrokerEvent.disconnected(.other("\(error)"), retryIn: AppTimers.connectRetry)
            if watch.record(failure, at: now) { changed() }
            handle(failure, at: now)
            timers.connect?.arm(after: AppTimers.connectRetry)
        }
    }

    /// Leaves the connection, without waiting for its end.
    package func disconnect() {
        links.broker.retire(within: patienceOfClosing)
        handleBrokerEvents(within: nil)
        delivers(false)
        owner?.disconnected(at: host.now)
        delivery.connectionWasLeft()
    }

    func closeBroker() {
        links.broker.close(within: patienceOfClosing)
        handleBrokerEvents(within: nil)
    }

    /// A link without a connection has no DISCONNECT to send, and a look-up or a connect cannot be interrupted.
    private var patienceOfClosing: Duration { links.broker.isConnected ? .seconds(2) : .zero }

    /// Begins or ends the delivery of stored messages.
    package func delivers(_ isOn: Bool) {
        links.store.submit(delivery.turn(on: isOn, isRefused: watch.broker.isRefused))
    }

    package func handleBrokerEvents() {
        // The next turn takes what has come since.
        if !brokerTurns.isToCome { handleBrokerEvents(within: BrokerTurns.longest) }
    }

    /// - Parameter limit: Events that are left after this time wait for the next turn; nil: all are handled.
    private func handleBrokerEvents(within limit: Duration?) {
        let end = limit.map { host.now.advanced(by: $0) }
        while let event = nextBrokerEvent {
            let now = host.now
            if let end, now > end {
                brokerTurns.isToCome = true
                timers.brokerTurn?.arm(at: now.advanced(by: BrokerTurns.pause))
                return
            }
            brokerTurns.removeFirst()
            let wasRefused = watch.broker.isRefused
            // First, because an answer ends what is known of its message.
            recordRefusals(in: event, of: links.broker.settings, at: now)
            if watch.record(event, at: now) { changed() }
            handle(event, at: now)
            if delivery.window > 0, watch.broker.isRefused != wasRefused { delivers(true) }
        }
    }

    private var nextBrokerEvent: BrokerEvent? {
        if brokerTurns.isEmpty { brokerTurns.take(links.broker.drainEvents()) }
        return brokerTurns.first
    }

    private func handle(_ event: BrokerEvent, at now: MonotonicInstant) {
        let broker = settings.configuration.broker
        event.write(to: log, of: broker, named: watch.broker.name(of: broker))
        switch event {
        case .connected(let sessionPresent):
            if let request = delivery.redelivery() { links.store.submit(request) }
            owner?.connected(isNew: !sessionPresent || watch.broker.hasOtherLimits, at: now)
            if watch.readmitsLimited(at: now) { links.store.submit(.readmit(reasons: Refusal.limits)) }
            // Last, because the owner may decide now whether what is stored is still to be sent.
            if owner?.deliversAtOnce == true { delivers(true) }
        case .disconnected:
            delivers(false)
            owner?.disconnected(at: now)
        case .message(let message): owner?.received(message, at: now)
        case .decoded(let message): owner?.received(message, at: now)
        case .acknowledged(let token): if token.isStored { links.store.submit(.acknowledged(token.rawValue)) }
        case .refused(let token, let refusal):
            if token.isStored { links.store.submit(.refused(token.rawValue, reason: "\(refusal)")) }
        case .wantsMessage: links.store.submit(delivery.one())
        case .postponed, .steppedAside, .moved, .answered, .dropped: break
        case .subscribed, .subscriptionRefused, .refusal, .admitted, .limited: break
        }
    }
}
