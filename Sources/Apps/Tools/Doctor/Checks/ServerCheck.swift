import Configuration
import GatewayApp
import HTTPMessaging
import Health
import Messaging
import Shell
import Status

/// The server in HTTP mode.
enum ServerCheck {
    /// Checks it with an empty message, which servers ignore.
    static func findings(_ settings: Settings) -> [DoctorFinding] {
        let configuration = settings.configuration
        let broker = BrokerSettings(configuration, for: .command("doctor"))
        guard let endpoint = broker.endpoint, let own = endpoint.senders.first else { return [] }
        let http = HTTPSettings(broker, endpoint)
        let name = configuration.broker.name
        do throws(HTTPFailure) {
            let version = try CurlLibrary.version
            var client = try HTTPClient(http)
            let login = configuration.broker.login.map { "as '\($0.user)'" } ?? "without a login"
            let library = DoctorFinding(.server, "\(version) is there for messages over HTTP")
            guard let failure = try refusal(&client, HTTPSender(own)) else {
                return [library, DoctorFinding(.server, "\(name) answers, \(login)")]
            }
            guard isServed(settings) else {
                return [library, DoctorFinding(.server, "\(name): \(failure)", remedy: failure.remedy(http))]
            }
            let text = "\(name) does not take an empty message (\(failure)), but it takes those of the running service"
            return [library, DoctorFinding(.server, text)]
        } catch {
            return [DoctorFinding(.server, "\(name): \(error)", remedy: error.remedy(http))]
        }
    }

    /// How the server answers an empty message, if that may concern this message alone; nil: it accepts it.
    ///
    /// - Throws: what concerns all messages.
    private static func refusal(_ client: inout HTTPClient, _ sender: HTTPSender) throws(HTTPFailure) -> HTTPFailure? {
        do throws(HTTPFailure) {
            guard let answer = try client.post([], by: sender), !answer.isSuccess, !answer.isRefusal else { return nil }
            throw answer.failure
        } catch {
            guard error.isAboutEmptyMessage else { throw error }
            return error
        }
    }

    /// Whether the running service says that the server accepts its messages.
    private static func isServed(_ settings: Settings) -> Bool {
        guard let answer = try? StatusClient(stateDirectory: settings.stateDirectory).ask("/status.json"),
            let connection = StatusSnapshot(reading: answer).brokers.first
        else { return false }
        return connection.kind == .server && connection.phase == .connected
            && connection.name == settings.configuration.broker.name
    }
}
