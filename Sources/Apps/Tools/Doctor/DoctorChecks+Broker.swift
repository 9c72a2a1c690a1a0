import Configuration
import GatewayApp
import Messaging
import OwnTracks
import Shell

extension DoctorChecks {
    /// Checks the path to the broker step by step, so that the first failing step names the cause.
    ///
    /// - Parameter hasSite: Becomes true if a rooms service lists tags for this gateway.
    static func broker(_ settings: Settings, hasSite: inout Bool) throws -> [DoctorFinding] {
        let configuration = settings.configuration
        let broker = configuration.broker
        guard broker.endpoint == nil else { return endpoint(settings) }
        guard !broker.isOffline else {
            return [DoctorFinding(.broker, "offline (port 0): events are kept in the history, nothing is sent")]
        }
        let ways = broker.hosts.map { reach($0, broker) }
        let findings = ways.map(\.finding)
        return ways.contains(where: \.isReached) ? findings + (try session(configuration, &hasSite)) : findings
    }

    /// Whether a host of the broker accepts connections.
    private static func reach(_ host: String, _ broker: Broker) -> (finding: DoctorFinding, isReached: Bool) {
        let place = broker.place(of: host)
        switch HostReach.probe(host, port: broker.port) {
        case .unknownName(let reason):
            let cure = BrokerAdvice.unknownName(host)
            return (DoctorFinding(.broker, "'\(host)' has no address: \(reason)", cure: cure), false)
        case .unreachable(let address, let reason):
            let text = "no broker accepts connections at \(place) (\(address)): \(reason)"
            let cure = BrokerAdvice.unreachable(host, port: broker.port)
            return (DoctorFinding(.broker, text, cure: cure), false)
        case .reached(let address):
            return (DoctorFinding(.broker, "\(place) (\(address)) accepts connections"), true)
        }
    }

    private static func session(_ configuration: Configuration, _ hasSite: inout Bool) throws -> [DoctorFinding] {
        let outcome = try BrokerSelfTest.run(configuration)
        hasSite = outcome.hearsTags && outcome.refusedTags == nil
        if let failure = outcome.failure {
            return [self.failure(failure, clientID: outcome.clientID, configuration.broker)]
        }
        let login = login(configuration.broker)
        let way = configuration.broker.tls ? "TLS, and " : ""
        // Two services with one client id disconnect each other.
        let clientID = "the service's client id is '\(configuration.broker.clientID)'"
        let interval = "its keep-alive \(configuration.broker.keepalive.components.seconds) s"
        var findings = [DoctorFinding(.broker, "\(way)MQTT, connected \(login); \(clientID), \(interval)")]
        findings += rights(outcome, configuration)
        return findings
    }

    /// The finding for a failed connection. A refusal depends on the login and the client id, so the text names both.
    /// The advice for each failure is in `BrokerAdvice`.
    static func failure(_ failure: BrokerFailure, clientID: String, _ broker: Broker) -> DoctorFinding {
        var text = failure.description
        if case .notAccepted = failure { text += "; tried \(login(broker)), client id '\(clientID)'" }
        return DoctorFinding(.broker, text, cure: BrokerAdvice.text(for: failure, broker))
    }

    private static func login(_ broker: Broker) -> String {
        broker.username.map { "as '\($0)'" } ?? "without a login"
    }

    private static func rights(_ outcome: BrokerSelfTest.Outcome, _ configuration: Configuration) -> [DoctorFinding] {
        let base = configuration.trackers[0].topics.base
        let user = configuration.broker.username ?? "(anonymous)"
        var findings = outcome.refused.map { topic, reason in
            DoctorFinding(
                .broker, "messages to \(topic) are refused: \(reason)",
                cure: "let '\(user)' write there; in mosquitto's acl_file: topic readwrite \(base)/#")
        }
        if outcome.refused.isEmpty {
            let text = "it takes messages to \(base) and \(base)/event"
            findings.append(
                DoctorFinding(
                    .broker, outcome.canRefuse ? text : text + ", as far as a broker without MQTT 5 can tell"))
        }
        if let feed = ReadingFeedLink.Settings(configuration) { findings.append(rooms(outcome, feed, user)) }
        guard configuration.obeysCommands else { return findings }
        let command = configuration.trackers[0].topics.command
        switch outcome.hearsCommands {
        case true?: findings.append(DoctorFinding(.broker, "commands on \(command) arrive"))
        case nil:
            findings.append(DoctorFinding(.broker, "this test cannot show whether commands on \(command) arrive"))
        case false?:
            findings.append(
                DoctorFinding(
                    .broker, "commands on \(command) do not arrive",
                    cure: "let '\(user)' read it; in mosquitto's acl_file: topic readwrite \(base)/#"))
        }
        return findings
    }

    /// Without a rooms service, the rights for it are not needed.
    private static func rooms(
        _ outcome: BrokerSelfTest.Outcome, _ feed: ReadingFeedLink.Settings, _ user: String
    ) -> DoctorFinding {
        guard outcome.hearsTags else {
            return DoctorFinding(.broker, "no rooms service lists tags on \(feed.tags), so no readings are published")
        }
        if let reason = outcome.refusedTags {
            return DoctorFinding(
                .broker, "the list of tags on \(feed.tags) cannot be read: \(reason)",
                cure: "give this gateway the key that the rooms service has, as rooms.encryptionKeyFile")
        }
        guard let (topic, reason) = outcome.refusedFeed else {
            return DoctorFinding(
                .broker, "a rooms service decides about site '\(feed.site)'; readings go to \(feed.heard)")
        }
        return DoctorFinding(
            .broker, "the rooms service gets no readings: messages to \(topic) are refused: \(reason)",
            cure:
                "let '\(user)' write there; in mosquitto's acl_file: topic write \(feed.heard), and topic write \(feed.card)"
        )
    }
}
