import Base
import Configuration
import Messaging
import Runtime
import Shell
import System

/// The connection of one command to the broker. It works without the service. Its client id differs from the service's,
/// whose connection is thus not affected. Events are handled while the command waits.
final class CommandConnection {
    /// Called with each message that the broker sends.
    var onMessage: ((ReceivedMessage) -> Void)?
    private(set) var isConnected = false
    /// The first reason why there is no connection. A move to another host of the cluster clears it.
    private(set) var failure: BrokerFailure?
    /// Messages that the broker has not answered.
    private(set) var unanswered: Set<MessageToken> = []
    /// Why the broker refused messages.
    private(set) var refusals: [MessageToken: Refusal] = [:]
    /// Topic filters that the broker has not answered.
    private(set) var pendingFilters: Set<String>
    private(set) var refusedFilters: Set<String> = []
    /// The broker's words for them.
    private(set) var filterRefusals: [String: Refused] = [:]
    /// What the broker limits on the latest connection.
    private(set) var limits = BrokerLimits.none
    /// Connections that ended after the broker had accepted them.
    private(set) var losses = 0
    /// Why the latest of them ended.
    private(set) var lastLoss: BrokerFailure?
    private let survivesLosses: Bool
    private var filters: Set<String>
    private var lastToken: Int64 = 0
    private let firstHost: String
    private let loop: EventLoop
    private var waker: WakerWatch?
    private var connection: BrokerConnection?

    /// Starts to connect.
    ///
    /// - Parameters:
    ///   - purpose: The suffix of the client id.
    ///   - filters: The topic filters to subscribe to.
    ///   - survivesLosses: The end of an accepted connection is no failure: it is made again. A packet that MQTT does not allow is
    ///     one: it would come again.
    ///   - adjust: Changes the settings of the connection.
    init(
        _ configuration: Configuration, purpose: String, filters: Set<String> = [], survivesLosses: Bool = false,
        adjust: (inout BrokerSettings) -> Void = { _ in }
    ) throws {
        guard !configuration.broker.isOffline else {
            throw Failure(.unavailable, "the configuration says offline (port 0), so there is no broker")
        }
        (self.filters, pendingFilters, self.survivesLosses) = (filters, filters, survivesLosses)
        firstHost = configuration.broker.hosts[0]
        loop = try EventLoop()
        var settings = BrokerSettings(configuration, for: .command(purpose))
        // A person waits; and a broker that does not know MQTT 5 may need a second attempt.
        settings.connectTimeout = .seconds(5)
        adjust(&settings)
        let waker = try loop.waker { [unowned self] in drain() }
        let connection = try BrokerConnection(settings, wake: waker.waker.wake)
        (self.waker, self.connection) = (waker, connection)
        connection.subscribe(to: filters)
        try connection.start()
    }

    /// Subscribes to one more topic filter.
    func subscribe(to filter: String) {
        filters.insert(filter)
        pendingFilters.insert(filter)
        connection?.subscribe(to: filters)
    }

    /// - Returns: nil if too many messages are unanswered; the message was not accepted.
    func publish(_ publication: Publication) -> MessageToken? {
        let token = MessageToken(rawValue: lastToken + 1)
        guard connection?.publish(publication, as: token) == true else { return nil }
        lastToken += 1
        unanswered.insert(token)
        return token
    }

    /// Handles events until `isDone` (called before each) is true, the connection fails, or the limit is over.
    ///
    /// - Returns: The last value of `isDone`.
    func step(_ limit: Duration, until isDone: () -> Bool) throws(SystemError) -> Bool {
        try loop.step(until: Clocks.now().advanced(by: limit)) { isDone() || failure != nil }
        // On a busy machine, events may have arrived that no step has handled.
        drain()
        return isDone()
    }

    /// Like `step`, for a command that cannot continue without a connection.
    @discardableResult
    func wait(_ limit: Duration, until isDone: () -> Bool) throws -> Bool {
        let isDone = try step(limit, until: isDone)
        if let failure { throw Failure(.unavailable, "no broker: \(failure)") }
        return isDone
    }

    /// Disconnects when the broker has answered all messages, or at the limit.
    func close(within limit: Duration) {
        _ = connection?.stop(within: limit)
        connection = nil
    }

    private func drain() {
        for event in connection?.drainEvents() ?? [] {
            switch event {
            case .connected: isConnected = true
            case .disconnected(.invalidPacket(let what), _): failure = failure ?? .invalidPacket(what)
            case .disconnected(let reason, _) where isConnected && survivesLosses:
                (losses, lastLoss) = (losses + 1, reason)
                limits = .none
            case .disconnected(let reason, _): failure = failure ?? reason
            case .limited(let limits): self.limits = limits
            // Other hosts of the cluster have not been tried yet.
            case .moved(let host): if host != firstHost { failure = nil }
            case .message(let message): onMessage?(message)
            case .acknowledged(let token): unanswered.remove(token)
            case .refused(let token, let refusal):
                unanswered.remove(token)
                refusals[token] = refusal
            case .subscribed(let filter): pendingFilters.remove(filter)
            case .subscriptionRefused(let filter):
                pendingFilters.remove(filter)
                refusedFilters.insert(filter)
            case .refusal(let refused) where refused.kind == .subscription: filterRefusals[refused.object] = refused
            // This connection has no command reader and no outbox, and a command needs no dropped messages.
            case .decoded, .dropped, .postponed, .refusal, .admitted, .steppedAside, .wantsMessage, .answered: break
            }
        }
    }
}
