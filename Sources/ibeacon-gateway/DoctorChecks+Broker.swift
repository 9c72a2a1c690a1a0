internal import Messaging
internal import OwnTracks

extension DoctorChecks {
    /// The way to the broker, step by step: each says what is wrong before the next would only say that it failed.
    static func broker(_ settings: Settings) throws -> [DoctorFinding] {
        let configuration = settings.configuration
        let broker = configuration.broker
        guard !broker.isOffline else {
            return [DoctorFinding(.broker, "offline (port 0): events are kept in the history, nothing is sent")]
        }
        let place = "\(broker.host):\(broker.port)"
        switch HostReach.probe(broker.host, port: broker.port) {
        case .unknownName(let reason):
            return [
                DoctorFinding(
                    .broker, "'\(broker.host)' has no address: \(reason)",
                    cure:
                        "check \"host\"; try: getent hosts \(broker.host); names in .local need the package libnss-mdns"
                )
            ]
        case .unreachable(let address, let reason):
            return [
                DoctorFinding(
                    .broker, "nobody accepts connections at \(place) (\(address)): \(reason)",
                    cure: unreachableCure(broker))
            ]
        case .reached(let address):
            let reached = DoctorFinding(.broker, "\(place) (\(address)) accepts connections")
            return [reached] + (try session(configuration, place))
        }
    }

    private static func session(_ configuration: Configuration, _ place: String) throws -> [DoctorFinding] {
        let outcome = try BrokerTrial.run(configuration)
        if let failure = outcome.failure {
            return [DoctorFinding(.broker, failure.description, cure: cure(for: failure, configuration.broker))]
        }
        let login = configuration.broker.username.map { "as '\($0)'" } ?? "without a login"
        let way = configuration.broker.tls ? "TLS, and " : ""
        var findings = [DoctorFinding(.broker, "\(way)MQTT, connected \(login)")]
        findings += rights(outcome, configuration)
        return findings
    }

    private static func rights(_ outcome: BrokerTrial.Outcome, _ configuration: Configuration) -> [DoctorFinding] {
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
        guard configuration.obeysCommands else { return findings }
        let command = configuration.trackers[0].topics.command
        switch outcome.hearsCommands {
        case true?: findings.append(DoctorFinding(.broker, "commands on \(command) arrive"))
        case nil:
            findings.append(DoctorFinding(.broker, "whether commands on \(command) arrive cannot be told from here"))
        case false?:
            findings.append(
                DoctorFinding(
                    .broker, "commands on \(command) do not arrive",
                    cure: "let '\(user)' read it; in mosquitto's acl_file: topic readwrite \(base)/#"))
        }
        return findings
    }

    private static func unreachableCure(_ broker: Broker) -> String {
        let isLocal = ["localhost", "127.0.0.1", "::1"].contains(broker.host)
        return isLocal
            ? "is a broker installed and running? sudo apt install mosquitto; systemctl status mosquitto"
            : "does the broker run, and for others than its own machine? mosquitto 2 needs 'listener \(broker.port)' "
                + "in a file in /etc/mosquitto/conf.d; a firewall may stand between"
    }

    private static func cure(for failure: BrokerFailure, _ broker: Broker) -> String {
        switch failure {
        case .tls where broker.caFile == nil:
            return "if the broker has a certificate of its own making, give its authority as \"caFile\"; "
                + "\"host\" must be the name in the certificate; and the clock must be right"
        case .tls: return "check \"caFile\" and that \"host\" is the name in the certificate; the clock must be right"
        case .notAccepted where broker.username == nil && failure.isLogin:
            return "this broker wants a login: set \"username\" and \"passwordFile\"; "
                + "on the broker: sudo mosquitto_passwd /etc/mosquitto/passwd NAME"
        case .notAccepted where failure.isLogin: return "check \"username\" and the password"
        case .notAccepted, .settings: return "change that setting"
        case .silent, .closed, .protocolViolation:
            return broker.tls
                ? "is this the port for TLS (mostly 8883)?"
                : "is this the port for MQTT without TLS (mostly 1883)? For a port with TLS set \"tls\": true"
        case .nameNotResolved, .unreachable, .keepaliveMissed, .unacknowledged, .other:
            return "look at the broker's own log, and run doctor again"
        }
    }
}
