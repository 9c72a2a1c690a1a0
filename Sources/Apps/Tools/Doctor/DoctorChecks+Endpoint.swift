import Configuration
import GatewayApp
import HTTPMessaging
import Messaging
import Shell

extension DoctorChecks {
    /// Checks the server in HTTP mode, with an empty message, which servers ignore.
    static func endpoint(_ configuration: Configuration) -> [DoctorFinding] {
        let broker = BrokerSettings(configuration, for: .command("doctor"))
        guard let endpoint = broker.endpoint, let own = endpoint.senders.first else { return [] }
        let settings = HTTPSettings(broker, endpoint)
        do throws(HTTPFailure) {
            let version = try CurlLibrary.version
            var client = try HTTPClient(settings)
            if let answer = try client.post([], by: HTTPSender(own)), !answer.isSuccess, !answer.isRefusal {
                throw .status(answer.status)
            }
            let login = configuration.broker.login.map { "as '\($0.user)'" } ?? "without a login"
            return [
                DoctorFinding(.broker, "\(version) is there for messages over HTTP"),
                DoctorFinding(.broker, "\(configuration.broker.name) answers, \(login)"),
            ]
        } catch {
            return [DoctorFinding(.broker, "\(configuration.broker.name): \(error)", cure: error.cure(settings))]
        }
    }
}
