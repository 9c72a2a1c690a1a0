import Base
import Configuration
import Messaging
import RoomMessages
import RoomService
import Runtime
import Service
import System

/// A separate connection of one command: it collects the retained messages of a site and publishes to the site.
final class SiteTopics {
    /// Longest time for the connection with TLS and login.
    private static let patience: Duration = .seconds(12)
    /// Time to collect retained messages; they follow the subscription at once.
    private static let collecting: Duration = .milliseconds(700)

    let identity: RoomServiceIdentity
    /// The payloads by topic.
    private(set) var retained: [String: [UInt8]] = [:]
    private let loop: EventLoop
    private var waker: WakerWatch?
    private var connection: BrokerConnection?
    private var isConnected = false
    private var unanswered = 0
    private let firstHost: String
    private var failure: Failure?
    private let optional: Set<String>

    /// Connects.
    ///
    /// - Parameters:
    ///   - filters: What to subscribe to, below `ibeacon-rooms/<site>`.
    ///   - optional: Whole topic filters that the broker may refuse.
    init(_ settings: Settings, filters: [String] = [], optional: (RoomServiceIdentity) -> Set<String> = { _ in [] })
        throws
    {
        identity = try RoomServiceIdentity(settings.configuration)
        self.optional = optional(identity)
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
        connection.subscribe(
            to: Set(filters.map { "ibeacon-rooms/\(identity.site)/\($0)" } + ["ibeacon-gateway/+/availability"])
                .union(self.optional))
        try connection.start()
        try loop.step(until: Clocks.now().advanced(by: Self.patience)) { isConnected || failure != nil }
        if let failure { throw failure }
        guard isConnected else {
            throw Failure(.unavailable, "the broker has not answered for \(decimal(Self.patience)) s")
        }
    }

    /// Waits for the retained messages.
    func collect() throws { try wait(Self.collecting) }

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
                token: MessageToken(rawValue: 1), topic: topic, payload: payload, qos: .atLeastOnce, retain: isRetained)
        )
        try loop.step(until: Clocks.now().advanced(by: Self.patience)) { unanswered == 0 || failure != nil }
        if let failure { throw failure }
        guard unanswered == 0 else { throw Failure(.unavailable, "the broker does not acknowledge") }
    }

    func close() {
        _ = connection?.stop(within: .seconds(1))
        connection = nil
    }

    private func drain() {
        for event in connection?.drainEvents() ?? [] {
            switch event {
            case .connected: isConnected = true
            case .disconnected(let reason, _): failure = failure ?? Failure(.unavailable, "no broker: \(reason)")
            // Other hosts of the cluster have not been tried yet.
            case .moved(let host): if host != firstHost { failure = nil }
            case .message(let message): retained[message.topic] = message.payload.isEmpty ? nil : message.payload
            case .acknowledged: unanswered -= 1
            case .refused(_, let refusal):
                failure = Failure(.noPermission, "the broker does not take the message: \(refusal)")
            case .subscriptionRefused(let filter):
                guard !optional.contains(filter) else { continue }
                failure = Failure(.noPermission, "the broker refuses to send us \(filter)")
            case .commands, .untaken: break
            }
        }
    }
}
