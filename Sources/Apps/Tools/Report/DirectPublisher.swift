import Base
import Configuration
import Encryption
import Gateway
import GatewayApp
import JSON
import Messaging
import OwnTracks
import Shell
import System

/// Publishes messages for one command, which ends when the broker has all of them: the caller learns whether it accepted
/// them.
final class DirectPublisher {
    /// Where the messages go.
    private enum Link {
        case mqtt(CommandConnection)
        case http(DirectPoster)
    }

    /// Longest silence of the broker.
    private static let patience: Duration = .seconds(20)

    private let ciphers: Ciphers
    private let link: Link
    /// The first failure. No message is sent after it.
    private var failure: Failure?

    /// - Parameter purpose: The suffix of the client id.
    init(_ configuration: Configuration, purpose: String) throws {
        ciphers = Ciphers(configuration)
        link =
            configuration.broker.endpoint == nil
            ? .mqtt(try CommandConnection(configuration, purpose: purpose)) : .http(try DirectPoster(configuration))
    }

    /// Sends a message. It first waits if too many messages are unacknowledged. After a failure it does nothing, and
    /// `finish` reports the failure.
    func publish(_ message: Message) {
        guard failure == nil else { return }
        switch link {
        case .http(let poster):
            guard message.isOwnTracks else { return }
            attempt { try poster.post(sealed(message.posted, of: message), of: message.base) }
        case .mqtt(let connection):
            let payload = sealed(message.payload, of: message)
            let qos = QoS(rawValue: message.qos) ?? .atLeastOnce
            while failure == nil,
                connection.publish(message.topic, payload, qos: qos, isRetained: message.isRetained) == nil
            {
                waitForAnswer(connection)
            }
        }
    }

    private func sealed(_ payload: [UInt8], of message: Message) -> [UInt8] {
        guard message.isEncrypted, let cipher = ciphers[message.base] else { return payload }
        return cipher.encrypt(payload).payload.bytes
    }

    /// Waits until the broker has all messages.
    func finish() throws(Failure) {
        if case .mqtt(let connection) = link {
            while failure == nil, !connection.unanswered.isEmpty { waitForAnswer(connection) }
            connection.close(within: .seconds(2))
        }
        if let failure { throw failure }
    }

    private func waitForAnswer(_ connection: CommandConnection) {
        let before = (connection.isConnected, connection.unanswered.count)
        attempt {
            let isAlive = try connection.wait(Self.patience) {
                (connection.isConnected, connection.unanswered.count) != before
            }
            if let refusal = connection.refusals.values.first {
                throw Failure(.unavailable, "the broker does not take a message: \(refusal)")
            }
            guard isAlive else {
                throw Failure(.unavailable, "the broker has not answered for \(decimal(Self.patience)) s")
            }
        }
    }

    private func attempt(_ action: () throws -> Void) {
        do {
            try action()
        } catch {
            failure = error as? Failure ?? Failure(.unavailable, "\(error)")
        }
    }
}
