import Base
import Configuration
import Messaging
import RoomsApp
import Runtime
import Shell
import SiteProtocol
import System

/// A message of a site that cannot be decrypted.
struct ClosedMessage: Hashable {
    let payload: [UInt8]
    let reason: SealError
}

/// A separate connection of one command: it collects the retained messages of a site and publishes to the site.
final class SiteTopics {
    /// Longest time for the connection with TLS and login.
    private static let patience: Duration = .seconds(12)
    /// Time without a further retained message after which no more is expected.
    private static let quiet: Duration = .milliseconds(300)

    let identity: RoomServiceIdentity
    /// The payloads by topic.
    private(set) var retained: [String: [UInt8]] = [:]
    /// Messages of the site that cannot be decrypted, by topic, as they came.
    private(set) var closed: [String: ClosedMessage] = [:]
    private let seal: SiteSeal
    private let loop: EventLoop
    private var waker: WakerWatch?
    private var connection: BrokerConnection?
    private var isConnected = false
    private var unanswered = 0
    private let firstHost: String
    private var failure: Failure?
    private var subscriptions: Subscriptions

    private struct Subscriptions {
        let filters: Set<String>
        /// Those that the broker may refuse.
        let optional: Set<String>
        /// Those for which the broker has not answered yet.
        var pending: Set<String>
        /// When the last retained message came.
        var lastRetained = MonotonicInstant.zero

        /// - Returns: Whether the command cannot go on without it.
        mutating func refused(_ filter: String) -> Bool {
            pending.remove(filter)
            return filters.contains(filter) && !optional.contains(filter)
        }
    }

    /// Connects.
    ///
    /// - Parameters:
    ///   - filters: What to subscribe to, below `ibeacon-rooms/<site>`.
    ///   - optional: Whole topic filters that the broker may refuse.
    init(_ settings: Settings, filters: [String] = [], optional: (RoomServiceIdentity) -> Set<String> = { _ in [] })
        throws
    {
        let identity = try RoomServiceIdentity(settings.configuration)
        self.identity = identity
        let optional = optional(identity)
        let own = filters.map { "ibeacon-rooms/\(identity.site)/\($0)" } + ["ibeacon-gateway/+/availability"]
        let all = optional.union(own)
        subscriptions = Subscriptions(filters: all, optional: optional, pending: all)
        seal = SiteSeal(settings.configuration.rooms)
        guard settings.configuration.broker.endpoint == nil else {
            throw Failure(.unavailable, "the configuration says HTTP (mode 3); a rooms service needs an MQTT broker")
        }
        guard !settings.configuration.broker.isOffline else {
            throw Failure(.unavailable, "the configuration says offline (port 0), so there is no broker to ask")
        }
        firstHost = settings.configuration.broker.hosts[0]
        loop = try EventLoop()
        let waker = try loop.waker { [unowned self] in drain() }
        self.waker = waker
        let connection = try BrokerConnection(
            BrokerSettings(settings.configuration, for: .command("rooms")), wake: waker.waker.wake)
        self.connection = connection
        connection.subscribe(to: all)
        try connection.start()
        try loop.step(until: Clocks.now().advanced(by: Self.patience)) { isConnected || failure != nil }
        if let failure { throw failure }
        guard isConnected else {
            throw Failure(.unavailable, "the broker has not answered for \(decimal(Self.patience)) s")
        }
    }

    /// Waits for the retained messages, however slow the broker or this machine is.
    ///
    /// A broker sends them when it handles a subscription, before or after it answers. So all subscriptions must be
    /// answered, and then one more, which it handles after them. What it holds back until earlier messages are
    /// acknowledged comes without a long pause.
    func collect() throws {
        let end = Clocks.now().advanced(by: Self.patience)
        try waitForAnswers(until: end)
        let fence = "ibeacon-rooms/\(identity.site)/service/fence"
        subscriptions.pending = [fence]
        connection?.subscribe(to: subscriptions.filters.union([fence]))
        try waitForAnswers(until: end)
        subscriptions.lastRetained = max(subscriptions.lastRetained, Clocks.now())
        while Clocks.now() < end {
            let last = subscriptions.lastRetained
            try loop.step(until: min(end, last.advanced(by: Self.quiet))) { failure != nil }
            // On a busy machine some may be here that no step has handled.
            drain()
            if let failure { throw failure }
            if subscriptions.lastRetained == last { return }
        }
    }

    /// Waits until the broker has answered all subscriptions.
    private func waitForAnswers(until end: MonotonicInstant) throws {
        try loop.step(until: end) { subscriptions.pending.isEmpty || failure != nil }
        if let failure { throw failure }
        guard subscriptions.pending.isEmpty else {
            throw Failure(.unavailable, "the broker has not answered a subscription for \(decimal(Self.patience)) s")
        }
    }

    /// Receives messages for this time, or until the retained messages fulfil `isOver`.
    func wait(_ duration: Duration, until isOver: ([String: [UInt8]]) -> Bool = { _ in false }) throws {
        try loop.step(until: Clocks.now().advanced(by: duration)) { failure != nil || isOver(retained) }
        if let failure { throw failure }
    }

    /// Publishes a message, and waits until the broker has it.
    func publish(_ topic: RoomTopic, _ payload: [UInt8], isRetained: Bool = false) throws {
        try publish(topic.text, payload, isRetained: isRetained)
    }

    func publish(_ topic: String, _ payload: [UInt8], isRetained: Bool) throws {
        unanswered += 1
        _ = connection?.publish(
            OutgoingMessage(
                token: MessageToken(rawValue: 1), topic: topic, payload: seal.sealed(payload, for: topic),
                qos: .atLeastOnce, retain: isRetained))
        try loop.step(until: Clocks.now().advanced(by: Self.patience)) { unanswered == 0 || failure != nil }
        if let failure { throw failure }
        guard unanswered == 0 else { throw Failure(.unavailable, "the broker does not acknowledge") }
    }

    func close() {
        _ = connection?.stop(within: .seconds(1))
        connection = nil
    }

    private func take(_ message: ReceivedMessage) {
        let topic = message.topic
        (retained[topic], closed[topic]) = (nil, nil)
        guard !message.payload.isEmpty else { return }
        do throws(SealError) {
            retained[topic] =
                try RoomTopic(topic).map { topic throws(SealError) in
                    try seal.opened(message.payload, of: topic)
                } ?? message.payload
        } catch {
            closed[topic] = ClosedMessage(payload: message.payload, reason: error)
        }
    }

    private func drain() {
        for event in connection?.drainEvents() ?? [] {
            switch event {
            case .connected: isConnected = true
            case .disconnected(let reason, _): failure = failure ?? Failure(.unavailable, "no broker: \(reason)")
            // Other hosts of the cluster have not been tried yet.
            case .moved(let host): if host != firstHost { failure = nil }
            case .message(let message):
                if message.retained { subscriptions.lastRetained = Clocks.now() }
                take(message)
            case .acknowledged: unanswered -= 1
            case .refused(_, let refusal):
                failure = Failure(.noPermission, "the broker does not take the message: \(refusal)")
            case .subscribed(let filter): subscriptions.pending.remove(filter)
            case .subscriptionRefused(let filter):
                guard subscriptions.refused(filter) else { continue }
                failure = Failure(.noPermission, "the broker refuses to send us \(filter)")
            case .commands, .untaken: break
            }
        }
    }
}
