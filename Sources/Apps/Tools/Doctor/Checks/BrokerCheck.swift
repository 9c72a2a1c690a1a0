import Configuration
import GatewayApp
import Messaging
import Shell

/// The path to the broker, step by step, so that the first failing step names the cause.
enum BrokerCheck {
    /// - Parameters:
    ///   - running: What the running service says of its connection with these settings; nil: nothing.
    ///   - isServiceRunning: Whether a service uses the service's client id now.
    ///   - hasSite: Becomes true if a rooms service lists tags for this gateway.
    static func findings(
        _ settings: Settings, running: RunningService? = nil, isServiceRunning: Bool, hasSite: inout Bool
    ) throws -> [DoctorFinding] {
        let configuration = settings.configuration
        let broker = configuration.broker
        guard broker.endpoint == nil else { return ServerCheck.findings(settings) }
        guard !broker.isOffline else {
            return [DoctorFinding(.broker, "offline (port 0): events are kept in the history, nothing is sent")]
        }
        let ways = broker.hosts.map { reach($0, broker) }
        let findings = ways.map(\.finding)
        return ways.contains(where: \.isReached)
            ? findings + (try session(configuration, running, isServiceRunning, &hasSite)) : findings
    }

    /// Whether a host of the broker accepts connections.
    private static func reach(_ host: String, _ broker: Broker) -> (finding: DoctorFinding, isReached: Bool) {
        let place = broker.hostAndPort(of: host)
        switch HostReach.probe(host, port: broker.port) {
        case .unknownName(let reason):
            let remedy = BrokerAdvice.unknownName(host)
            return (DoctorFinding(.broker, "'\(host)' has no address: \(reason)", remedy: remedy), false)
        case .unreachable(let address, let reason):
            let text = "no broker accepts connections at \(place) (\(address)): \(reason)"
            let remedy = BrokerAdvice.unreachable(host, port: broker.port)
            return (DoctorFinding(.broker, text, remedy: remedy), false)
        case .reached(let address):
            return (DoctorFinding(.broker, "\(place) (\(address)) accepts connections"), true)
        }
    }

    private static func session(
        _ configuration: Configuration, _ running: RunningService?, _ isServiceRunning: Bool, _ hasSite: inout Bool
    ) throws -> [DoctorFinding] {
        let topics = BrokerRightsCheck.usedTopics(configuration)
        let outcome = try BrokerSelfTest.run(configuration, topics, isServiceRunning: isServiceRunning)
        hasSite = outcome.hearsTags && outcome.refusedTags == nil
        if let failure = outcome.failure {
            if running?.isConnected == true, failure.isClientID || failure == .closed(code: nil) {
                let text = "the service is connected; this test is not admitted beside it, as '\(outcome.clientID)': "
                return [DoctorFinding(.broker, text + "\(failure)", advice: "the service's own findings are above")]
            }
            if case .tls = failure { return [try tlsFailure(failure, configuration)] }
            return [self.failure(failure, clientID: outcome.clientID, configuration.broker)]
        }
        let login = login(configuration.broker)
        let way = configuration.broker.tls ? "TLS, and " : ""
        // Two services with one client id disconnect each other.
        let clientID = "the service's client id is '\(configuration.broker.clientID)'"
        let interval = "its keep-alive \(configuration.broker.keepalive.components.seconds) s"
        var findings = [DoctorFinding(.broker, "\(way)MQTT, connected \(login); \(clientID), \(interval)")]
        findings += BrokerRightsCheck.limits(outcome.limits, configuration.broker)
        findings += BrokerRightsCheck.rights(outcome, topics, configuration)
        return findings
    }

    /// The finding for a failed connection. A refusal depends on the login and the client id, so the text names both.
    /// The advice for each failure is in `BrokerAdvice`.
    static func failure(_ failure: BrokerFailure, clientID: String, _ broker: Broker) -> DoctorFinding {
        var text = failure.description
        if case .notAccepted = failure { text += "; tried \(login(broker)), client id '\(clientID)'" }
        return DoctorFinding(.broker, text, remedy: BrokerAdvice.text(for: failure, broker))
    }

    /// The same for TLS, with the certificate that the broker shows, or that it shows none.
    private static func tlsFailure(
        _ failure: BrokerFailure, _ configuration: Configuration
    ) throws -> DoctorFinding {
        let broker = configuration.broker
        var text = failure.description
        if let seen = ServedCertificate.read(host: broker.hosts[0], port: broker.port) {
            text += "; the certificate there is for \(seen.names.joined(separator: ", ")), issued by \(seen.issuer), "
            text += seen.chainLength == 1 ? "and comes alone" : "and comes with \(seen.chainLength - 1) more"
        } else if try speaksPlain(configuration) {
            let remedy = "leave out \"tls\", or take the broker's port for TLS (mostly 8883)"
            return DoctorFinding(.broker, text + "; port \(broker.port) speaks MQTT without TLS", remedy: remedy)
        }
        return DoctorFinding(.broker, text, remedy: BrokerAdvice.text(for: failure, broker))
    }

    /// Whether a broker answers without TLS. No login is sent.
    private static func speaksPlain(_ configuration: Configuration) throws -> Bool {
        let link = try CommandConnection(configuration, purpose: "doctor") { settings in
            (settings.tls, settings.username, settings.password) = (nil, nil, nil)
            settings.connectTimeout = .seconds(5)
        }
        defer { link.close(within: .zero) }
        if try link.step(.seconds(12), until: { link.isConnected }) { return true }
        if case .notAccepted? = link.failure { return true }
        return false
    }

    private static func login(_ broker: Broker) -> String {
        broker.username.map { "as '\($0)'" } ?? "without a login"
    }
}
