import Base
import Configuration
import Messaging
import Runtime
import Storage

/// The connection to the broker.
extension App {
    /// The limit of unacknowledged messages. The outbox delivers no more.
    static var window: Int { 20 }
    /// The limit while the broker refuses some messages for now, so that the messages that it takes do not wait for those that it
    /// refuses. Messages that are in no outbox cannot take these places.
    static var wideWindow: Int { 200 }
    /// After this time a turn of the loop leaves the remaining events of the broker to the next turn. Ten thousand
    /// messages may be waiting, and timers, signals and the page are served between turns.
    static var longestTurn: Duration { .milliseconds(20) }
    /// The time between two such turns. Without it the page, which is served when nothing else is ready, would wait until
    /// all messages are handled.
    static var pauseBetweenTurns: Duration { .milliseconds(1) }

    /// How long to wait before connecting again when the process had no descriptor or thread left.
    static var connectRetry: Duration { .seconds(10) }

    /// Connects with the settings in force.
    package func connect() {
        timers.connect?.disarm()
        let now = host.now
        guard let owner, var request = owner.connection(at: now) else { return }
        request.settings.hasOutbox = true
        request.settings.limits.stored = Self.wideWindow
        watch.connects(at: now)
        do {
            try links.broker.open(request.settings, filters: request.filters, read: request.read) { [unowned self] in
                handleBrokerEvents()
            }
            try owner.opened()
        } catch {
            // A part of the links may be open, and without its thread it would never report anything.
            disconnect()
            let failure = BrokerEvent.disconnected(.other("\(error)"), retryIn: Self.connectRetry)
            if watch.record(failure, at: now) { changed() }
            handle(failure, at: now)
            timers.connect?.arm(after: Self.connectRetry)
        }
    }

    /// Leaves the connection, without waiting for its end.
    package func disconnect() {
        links.broker.retire(within: patienceOfClosing)
        handleBrokerEvents(within: nil)
        delivers(false)
        owner?.disconnected(at: host.now)
        // Unfinished messages of that connection are sent on the next one. Until then some may be acknowledged yet.
        deliveryGeneration += 1
        redelivers = true
    }

    func closeBroker() {
        links.broker.close(within: patienceOfClosing)
        handleBrokerEvents(within: nil)
    }

    /// A link without a connection has no DISCONNECT to send, and a look-up or a connect cannot be interrupted.
    private var patienceOfClosing: Duration { links.broker.isConnected ? .seconds(2) : .zero }

    /// Begins or ends the delivery of stored messages.
    package func delivers(_ isOn: Bool) {
        deliveryWindow = isOn ? (watch.broker.isRefused ? Self.wideWindow : Self.window) : 0
        links.store.submit(.window(deliveryWindow))
    }

    /// Hands one stored message to a link that is not connected, because only a message shows whether it can be.
    private func deliverOne() {
        deliveryWindow = 1
        links.store.submit(.window(1))
    }

    package func handleBrokerEvents() {
        // The next turn takes what has come since.
        if !hasBrokerTurn { handleBrokerEvents(within: Self.longestTurn) }
    }

    /// - Parameter limit: Events that are left after this time wait for the next turn; nil: all are handled.
    private func handleBrokerEvents(within limit: Duration?) {
        let end = limit.map { host.now.advanced(by: $0) }
        while let event = nextBrokerEvent {
            let now = host.now
            if let end, now > end {
                timers.hasBrokerTurn = true
                timers.brokerTurn?.arm(at: now.advanced(by: Self.pauseBetweenTurns))
                return
            }
            brokerEvents.removeFirst()
            let wasRefused = watch.broker.isRefused
            // First, because an answer ends what is known of its message.
            recordRefusals(in: event, of: links.broker.settings, at: now)
            if watch.record(event, at: now) { changed() }
            handle(event, at: now)
            if deliveryWindow > 0, watch.broker.isRefused != wasRefused { delivers(true) }
        }
    }

    /// The next event. New events are taken from the broker's bounded mailbox only when all earlier ones are handled.
    private var nextBrokerEvent: BrokerEvent? {
        if brokerEvents.isEmpty { brokerEvents = links.broker.drainEvents()[...] }
        return brokerEvents.first
    }

    private func handle(_ event: BrokerEvent, at now: MonotonicInstant) {
        let broker = settings.configuration.broker
        switch event {
        case .connected(let sessionPresent):
            log.notice("connected to \(watch.broker.name(of: broker))")
            if redelivers {
                redelivers = false
                links.store.submit(.redeliver(generation: deliveryGeneration))
            }
            if watch.readmitsLimited(at: now) { links.store.submit(.readmit(reasons: Refusal.limits)) }
            owner?.connected(isNew: !sessionPresent, at: now)
            // Last, because the owner may decide now whether what is stored is still to be sent.
            if owner?.deliversAtOnce == true { delivers(true) }
        case .disconnected(let failure, let retryIn):
            delivers(false)
            owner?.disconnected(at: now)
            log.once("broker", .warning, "no \(broker.receiver): \(failure); next try in \(decimal(retryIn)) s")
        case .moved(let host): log.notice("the next try is at \(broker.place(of: host))")
        case .message(let message): owner?.received(message, at: now)
        case .decoded(let message): owner?.received(message, at: now)
        case .acknowledged(let token): if token.isStored { links.store.submit(.acknowledged(token.rawValue)) }
        case .postponed(_, let code):
            let reason = BrokerFailure.reason(code: code)
            log.once("postponed", .warning, "the broker refuses messages for now: \(reason); they are sent again")
        case .refused(let token, let refusal):
            // The record of refusals names the topic.
            if token.isStored { log.once("refused", .warning, "a message is set aside: \(refusal)") }
            if token.isStored { links.store.submit(.refused(token.rawValue, reason: "\(refusal)")) }
        case .steppedAside(_, let topic, let reason):
            let text = "the message on \(topic) is not accepted: \(reason); it is kept and tried again once an hour"
            log.write(.warning, "\(text); later messages are accepted")
        case .wantsMessage: deliverOne()
        case .answered(let content):
            log.once("answer", .notice, "the server's answer contains \(content); only commands are obeyed")
        case .untaken(let message): report(message)
        case .subscribed, .subscriptionRefused, .refusal, .admitted, .limited: break
        }
    }

    private func report(_ message: UntakenMessage) {
        switch message {
        case .dropped(let topic, let size):
            log.once("oversize", .error, "a message of \(size) bytes on \(topic) is too large and was dropped")
        case .sessionDiscarded(let failure):
            log.once(
                "session", .error,
                "\(failure); it is told to forget the session, and with it all commands that wait for us")
        case .subscriptionsWithheld(let time):
            log.once(
                "oversize retained", .error,
                "the broker retains a message on /cmd that is too large; no commands are heard for \(decimal(time)) s")
        }
    }
}
