import Base
import Beacon
import CMosquitto
import Glibc

/// The life of the broker's thread: connect, serve, wait, again. Everything of libmosquitto happens here, on
/// this one thread, and nothing is decided here.
struct BrokerWorker: ~Copyable {
    let settings: BrokerSettings
    let mailbox: Mailbox
    private let read: CommandReading?
    var client: Client?
    var window: SendWindow
    var subscriptions: [String: QoS] = [:]
    /// Filters asked for on this connection, by packet identifier.
    var requested: [Int32: String] = [:]
    var backoff: Backoff
    var generator = SystemRandomNumberGenerator()
    var stopBy: MonotonicInstant?
    /// When the broker accepted us; nil: it has not, on this connection.
    var acceptedAt: MonotonicInstant?
    /// When the broker last answered a message, or the first of those in flight was handed over.
    var lastProgress = MonotonicInstant.zero
    var saidGoodbye = false

    init(settings: BrokerSettings, mailbox: Mailbox, read: CommandReading?) {
        self.settings = settings
        self.mailbox = mailbox
        self.read = read
        backoff = Backoff(unit: settings.firstRetryDelay)
        window = SendWindow(limit: settings.limits.inFlight)
    }

    /// Returns when it was told to stop, and has.
    mutating func run() {
        takeOrders()
        while stopBy == nil {
            acceptedAt = nil
            let failure = attempt()
            let end = MonotonicInstant.now
            if let acceptedAt { backoff.connectionEnded(after: acceptedAt.duration(to: end)) }
            afterConnection(failure)
            guard stopBy == nil else { break }
            let delay = backoff.nextDelay(using: &generator)
            mailbox.post([.disconnected(failure, retryIn: delay)])
            wait(until: end.advanced(by: delay))
        }
    }

    /// What was in flight is sent again by libmosquitto, unless it is what the broker cannot bear.
    private mutating func afterConnection(_ failure: BrokerFailure) {
        switch window.connectionEnded(byBroker: acceptedAt != nil && failure.isByBroker) {
        case .goOn: break
        case .discardClient: client = nil
        case .refuse(let message, let why):
            client = nil
            mailbox.post([.refused(message.token, why)])
        }
    }

    /// One connection, from the first packet to its end.
    private mutating func attempt() -> BrokerFailure {
        do {
            if client == nil { client = try Client(settings: settings) }
            try client?.connect()
            // A name look-up may have taken long; there may be something new to know.
            takeOrders()
            try serve(answerBy: .now.advanced(by: settings.connectTimeout))
            return .closed(code: nil)
        } catch {
            report()
            return error
        }
    }

    /// Waits for the next attempt, with an ear for the owner.
    private mutating func wait(until end: MonotonicInstant) {
        while stopBy == nil, .now < end {
            if mailbox.bell.wait(until: end) { takeOrders() }
        }
    }

    /// A message as its owner gets it.
    func event(for message: ReceivedMessage) -> BrokerEvent {
        read?(message).map(BrokerEvent.commands) ?? .message(message)
    }

    mutating func takeOrders() {
        mailbox.bell.silence()
        let orders = mailbox.takeOrders()
        window.add(orders.outgoing)
        stopBy = orders.stopBy
        if let wanted = orders.subscriptions { subscribe(to: wanted) }
    }
}
