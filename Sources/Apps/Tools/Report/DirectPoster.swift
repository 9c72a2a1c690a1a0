import Base
import Configuration
import GatewayApp
import HTTPMessaging
import Messaging
import Shell
import System

/// Posts messages of one command over HTTP, and waits for each answer. Commands in the answers are not executed: the
/// service receives them with the answer to its next message.
final class DirectPoster {
    private let endpoint: BrokerSettings.Posting
    private let settings: HTTPSettings
    private var client: HTTPClient

    init(_ configuration: Configuration) throws(Failure) {
        let broker = BrokerSettings(configuration, for: .command("direct"))
        guard let endpoint = broker.endpoint else { throw Failure(.configuration, "mode 3 has no url") }
        self.endpoint = endpoint
        settings = HTTPSettings(broker, endpoint)
        do throws(HTTPFailure) {
            client = try HTTPClient(settings)
        } catch {
            throw Self.failure(error, settings)
        }
    }

    /// Posts a message, whose payload is complete.
    func post(_ publication: Publication) throws(Failure) {
        guard let sender = endpoint.sender(of: publication) else { return }
        let answer = try mapError({ Self.failure($0, settings) }) { () throws(HTTPFailure) in
            try client.post(publication.payload, by: HTTPSender(sender))
        }
        guard let answer, !answer.isSuccess else { return }
        throw Self.failure(answer.failure, settings)
    }

    private static func failure(_ failure: HTTPFailure, _ settings: HTTPSettings) -> Failure {
        Failure(.unavailable, "the message was not accepted: \(failure); \(failure.remedy(settings))")
    }
}
