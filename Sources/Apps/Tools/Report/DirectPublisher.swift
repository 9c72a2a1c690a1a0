import Base
import Configuration
import Gateway
import GatewayApp
import JSON
import Messaging
import OwnTracks
import Shell
import System

/// Publishes messages for one command, which ends when the broker has all of them. The caller learns whether the broker
/// accepted them.
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
    func publish(_ publication: Publication) {
        guard failure == nil else { return }
        var publication = publication
        switch link {
        case .http(let poster):
            guard publication.kind.isOwnTracks else { return }
            publication.payload = ciphers.encrypted(publication.posted, of: publication)
            attempt { try poster.post(publication) }
        case .mqtt(let connection):
            publication.payload = ciphers.encrypted(publication.payload, of: publication)
            while failure == nil, connection.publish(publication) == nil { waitForAnswer(connection) }
        }
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
                throw Failure(.unavailable, "the broker refuses a message: \(refusal)")
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
