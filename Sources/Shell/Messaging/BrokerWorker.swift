import Base
import CMosquitto
import Configuration
import Glibc
import System

/// The loop of the broker's thread: connect, serve, wait, repeat. All calls of libmosquitto are made here, on
/// this one thread, and nothing is decided here.
struct BrokerWorker: ~Copyable {
    let settings: BrokerSettings
    let mailbox: Mailbox
    private let read: CommandReading?
    var client: Client?
    var window: SendWindow
    var subscriptions: Set<String> = []
    /// Filters asked for on this connection, by packet identifier.
    var requested: [Int32: String] = [:]
    var refusedSubscriptions = RefusedSubscriptions()
    var backoff: Backoff
    var generator = SystemRandomNumberGenerator()
    var stopBy: MonotonicInstant?
    /// When the broker accepted us; nil: it has not, on this connection.
    var acceptedAt: MonotonicInstant?
    /// It has accepted us with `level`.
    var hasBeenAccepted = false
    /// When the broker last answered a message, or the first of those in flight was handed over.
    var lastProgress = MonotonicInstant.zero
    var hasDisconnected = false
    /// Until when nothing is subscribed to; nil: it is.
    var withheldUntil: MonotonicInstant?
    /// The protocol level of this connection, or of the next.
    private var level: MQTTProtocolLevel
    private var hosts: HostRotation
    /// Whether this connection, or the next, makes the broker forget the session.
    private var startsClean = false

    /// For how long nothing is subscribed to once a message that is too large has proved to be retained.
    static let withholding: Duration = .seconds(600)

    init(settings: BrokerSettings, mailbox: Mailbox, read: CommandReading?) {
        self.settings = settings
        self.mailbox = mailbox
        self.read = read
        level = settings.protocolLevel
        backoff = Backoff(from: settings.firstRetryDelay)
        window = SendWindow(limit: settings.limits.inFlight)
        hosts = HostRotation(settings.hosts)
    }

    /// Returns after a stop was requested and is done.
    mutating func run() {
        drainOrders()
        while stopBy == nil {
            acceptedAt = nil
            let failure = attempt()
            let end = MonotonicInstant.now
            if let acceptedAt { backoff.connectionEnded(after: acceptedAt.duration(to: end)) }
            afterConnection(failure)
            guard stopBy == nil else { break }
            if fallsBack(from: failure) { continue }
            let delay = backoff.nextDelay(using: &generator)
            var events = [BrokerEvent.disconnected(failure, retryIn: delay)]
            if let next = hosts.connectionEnded(after: acceptedAt?.duration(to: end)) {
                events.append(.moved(toHost: next))
            }
            // Together: a command that asked once must not take the first of several hosts for all.
            mailbox.post(events)
            wait(until: end.advanced(by: delay))
        }
    }

    /// libmosquitto sends again what was in flight, unless that message is the reason for the end.
    private mutating func afterConnection(_ failure: BrokerFailure) {
        if failure == .messageTooLarge || failure == .unaskedExactlyOnce { return discardSession(after: failure) }
        if startsClean, acceptedAt != nil {
            // The session that began with it is kept from here on.
            startsClean = false
            discardClient()
        }
        switch window.connectionEnded(byBroker: acceptedAt != nil && failure.isByBroker) {
        case .goOn: break
        case .discardClient: client = nil
        case .refuse(let message, let why):
            client = nil
            mailbox.post([.refused(message.token, why)])
        }
    }

    /// Whether 3.1.1 is to be tried at once, with a broker that does not speak MQTT 5. Who has accepted it is spoken to
    /// like that for as long as there is this connection; else 5 is tried again.
    private mutating func fallsBack(from failure: BrokerFailure) -> Bool {
        guard acceptedAt == nil, settings.fallsBack, settings.protocolLevel == .v5 else { return false }
        if level == .v5, failure.isAboutProtocol {
            (level, hasBeenAccepted) = (.v3_1_1, false)
            discardClient()
            return true
        }
        if level != .v5, !hasBeenAccepted {
            level = .v5
            discardClient()
        }
        return false
    }

    /// The broker would deliver the message again for ever. It deletes what it holds for us when a session begins that
    /// is clean. A message that comes again even then is retained, and comes whenever it is subscribed to.
    private mutating func discardSession(after failure: BrokerFailure) {
        if failure == .messageTooLarge, startsClean || settings.cleanSession {
            withheldUntil = .now.advanced(by: Self.withholding)
            mailbox.post([.untaken(.subscriptionsWithheld(for: Self.withholding))])
        } else {
            mailbox.post([.untaken(.sessionDiscarded(failure))])
        }
        startsClean = true
        discardClient()
    }

    /// libmosquitto's handle and its messages are dropped; the next handle gets all messages again.
    private mutating func discardClient() {
        window.returnAll()
        client = nil
    }

    /// One connection, from the first packet to its end.
    private mutating func attempt() -> BrokerFailure {
        do {
            if client == nil {
                var current = settings
                current.protocolLevel = level
                current.cleanSession = settings.cleanSession || startsClean
                client = try Client(settings: current)
            }
            try probe()
            try client?.connect(to: hosts.current)
            // A name look-up may have taken long; there may be something new to know.
            drainOrders()
            try serve(answerBy: .now.advanced(by: settings.connectTimeout))
            return .closed(code: nil)
        } catch {
            report()
            return error
        }
    }

    /// Of several hosts, one whose machine is gone answers nothing at all, and libmosquitto's connect would wait for it
    /// for two minutes.
    private func probe() throws(BrokerFailure) {
        guard settings.hosts.count > 1 else { return }
        switch HostReach.probe(hosts.current, port: settings.port) {
        case .reached: return
        case .unknownName(let reason): throw .nameNotResolved(reason)
        case .unreachable(_, let reason): throw .unreachable(reason)
        }
    }

    /// Waits for the next attempt; new orders are carried out meanwhile.
    private mutating func wait(until end: MonotonicInstant) {
        while stopBy == nil, .now < end {
            if mailbox.bell.wait(until: end) { drainOrders() }
        }
    }

    /// The event for a received message.
    func event(for message: ReceivedMessage) -> BrokerEvent {
        read?(message).map(BrokerEvent.commands) ?? .message(message)
    }

    mutating func drainOrders() {
        mailbox.bell.clear()
        let orders = mailbox.drainOrders()
        window.add(orders.outgoing)
        stopBy = orders.stopBy
        if let wanted = orders.subscriptions { subscribe(to: wanted) }
    }
}
