import Base
import Configuration
import Encryption
import Gateway
import GatewayApp
import JSON
import Messaging
import OwnTracks
import Runtime
import Shell
import System

/// A separate connection of one command. It publishes messages, and the command ends when the broker has all of them.
///
/// It does not need the running service: the caller learns whether the broker accepted the messages. It uses another
/// client id than the service, whose connection is not affected.
final class DirectPublisher {
    /// Longest silence of the broker.
    private static let patience: Duration = .seconds(20)

    private let loop: EventLoop
    private let ciphers: Ciphers
    private let firstHost: String
    /// Posts in HTTP mode, instead of a connection.
    private var poster: DirectPoster?
    private var waker: WakerWatch?
    private var connection: BrokerConnection?
    private var nextToken: Int64 = 1
    private var unanswered = 0
    /// The failure that ended the connection. No message is sent after it.
    private var failure: Failure?

    /// - Parameter purpose: The suffix of the client id.
    init(_ configuration: Configuration, purpose: String) throws {
        guard !configuration.broker.isOffline else {
            throw Failure(.unavailable, "the configuration says offline (port 0), so there is no broker to send to")
        }
        loop = try EventLoop()
        ciphers = Ciphers(configuration)
        firstHost = configuration.broker.hosts[0]
        guard configuration.broker.endpoint == nil else {
            poster = try DirectPoster(configuration)
            return
        }
        let waker = try loop.waker { [unowned self] in drain() }
        self.waker = waker
        let settings = BrokerSettings(configuration, for: .command(purpose))
        let connection = try BrokerConnection(settings, wake: waker.waker.wake)
        self.connection = connection
        try connection.start()
    }

    /// Sends a message. It first waits if too many messages are unacknowledged. After a failure it does nothing, and
    /// `finish` reports the failure.
    func publish(_ message: Message) {
        if let poster, failure == nil { return post(message, by: poster) }
        guard failure == nil, let connection else { return }
        var payload = message.payload
        if message.isEncrypted, let cipher = ciphers[message.base] {
            payload = cipher.encrypt(payload).payload.bytes
        }
        let outgoing = Messaging.OutgoingMessage(
            token: MessageToken(rawValue: nextToken), topic: message.topic, payload: payload,
            qos: QoS(rawValue: message.qos) ?? .atLeastOnce, retain: message.isRetained)
        while failure == nil {
            if connection.publish(outgoing) {
                nextToken += 1
                unanswered += 1
                return
            }
            wait()
        }
    }

    private func post(_ message: Message, by poster: DirectPoster) {
        guard message.isOwnTracks else { return }
        var payload = message.posted
        if message.isEncrypted, let cipher = ciphers[message.base] { payload = cipher.encrypt(payload).payload.bytes }
        do throws(Failure) {
            try poster.post(payload, of: message.base)
        } catch {
            failure = error
        }
    }

    /// Waits until the broker has all messages.
    func finish() throws(Failure) {
        while failure == nil, unanswered > 0 { wait() }
        _ = connection?.stop(within: .seconds(2))
        if let failure { throw failure }
    }

    private func wait() {
        do throws(SystemError) {
            guard try !loop.step(timeout: Self.patience) else { return }
            fail("the broker has not answered for \(decimal(Self.patience)) s")
        } catch {
            fail("\(error)")
        }
    }

    private func drain() {
        for event in connection?.drainEvents() ?? [] {
            switch event {
            case .disconnected(let reason, _): fail("no broker: \(reason)")
            // Other hosts of the cluster have not been tried yet.
            case .moved(let host): if host != firstHost { failure = nil }
            case .acknowledged: unanswered -= 1
            case .refused(_, let refusal): fail("the broker does not take a message: \(refusal)")
            case .connected, .message, .commands, .untaken, .subscribed, .subscriptionRefused: break
            }
        }
    }

    private func fail(_ reason: String) {
        failure = failure ?? Failure(.unavailable, reason)
    }
}
