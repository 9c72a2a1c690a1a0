import Base
package import Configuration
package import Messaging

/// Advice on a broker that cannot be used, for `doctor` and `status`.
package enum BrokerAdvice {
    private static let own = "look at the broker's own log, and run: ibeacon-gateway doctor"

    /// - Parameter wasConnected: The broker has accepted a connection with the same settings before.
    package static func text(for failure: BrokerFailure, _ broker: Broker, wasConnected: Bool = false) -> String {
        switch failure {
        case .endpoint(_, let remedy): return remedy
        case .nameNotResolved: return unknownName(broker.hosts[0])
        case .unreachable: return unreachable(broker.hosts[0], port: broker.port)
        case .tls(let why) where why.hasPart("expired"):
            return "renew the broker's certificate; if it has not expired, set this machine's clock"
        case .tls(let why) where why.hasPart("host name"):
            return "\"host\" must be one of the names in the broker's certificate; ibeacon-gateway doctor prints them"
        case .tls(let why) where why.hasPart("wrong version number") || why.hasPart("closed the connection before"):
            return "if the port is one without TLS (mostly 1883), take that for TLS (mostly 8883), "
                + "or leave out \"tls\"; "
                + "if the broker asks for a certificate of this gateway, set \"clientCertificateFile\" "
                + "and \"clientKeyFile\""
        case .tls(let why) where why.hasPart("local issuer"):
            return "the broker's chain is incomplete, or its authority is another one: let the broker send the "
                + "certificates between its own and the authority (mosquitto: all of them in certfile), "
                + "or give the authority that issued its certificate as \"caFile\""
        case .tls where broker.caFile == nil:
            return "if the broker has a certificate of its own authority, give that authority as \"caFile\"; "
                + "\"host\" must be the name in the certificate; and the clock must be right"
        case .tls: return "check \"caFile\" and that \"host\" is the name in the certificate; the clock must be right"
        case .notAccepted where broker.username == nil && failure.isLogin:
            return "this broker requires a login: set \"username\" and \"passwordFile\"; "
                + "on the broker: sudo mosquitto_passwd /etc/mosquitto/passwd NAME"
        case .notAccepted(let code) where failure.isLogin:
            let check = "check \"username\" and the password" + broker.passwordRemark
            // Some brokers refuse a connection whose will goes to a topic that the login may not write.
            return [5, 0x87].contains(code)
                ? check + "; if they are right, the login lacks the right to connect, or to write to its own topics"
                : check
        case .notAccepted(let code): return notAccepted(code, broker)
        case .settings: return "change that setting"
        case .unaskedExactlyOnce: return "nothing else may use the client id '\(broker.clientID)'"
        case .messageTooLarge:
            return "find out which client sent it; the broker's message_size_limit keeps such messages out"
        case .silent, .closed, .protocolViolation, .invalidPacket:
            guard !wasConnected else { return own }
            return broker.tls
                ? "is this the port for TLS (mostly 8883)?"
                : "is this the port for MQTT without TLS (mostly 1883)? For a port with TLS set \"tls\": true"
        case .keepaliveMissed, .unacknowledged, .other: return own
        }
    }

    /// - Parameter code: Of CONNACK. None of those here is about the login.
    private static func notAccepted(_ code: UInt8, _ broker: Broker) -> String {
        switch code {
        case 1, 0x84: "set \"mqttProtocolLevel\" to a version that the broker speaks: 4 is MQTT 3.1.1, 5 is MQTT 5"
        case 2, 0x85:
            "let the broker admit the client id '\(broker.clientID)', or set a \"clientId\" that it admits"
        case 0x8a: "take the login, the client id and this machine's address off the broker's list of banned clients"
        case 0x90, 0x95, 0x99...0x9b:
            "the broker refuses the will of the connection: look at its limits for topics and messages, and at its log"
        case 0x97: "raise the broker's quota: mostly of connections or of messages for each login; its log says which"
        case 0x9c, 0x9d: "set \"host\" to the server that the broker's operator names"
        case 0x9f: "raise the broker's limit of new connections; the gateway tries again after growing pauses"
        default: own
        }
    }

    package static func unknownName(_ host: String) -> String {
        "check \"host\"; try: getent hosts \(host); names in .local need the package libnss-mdns"
    }

    package static func unreachable(_ host: String, port: UInt16) -> String {
        let isLocal = ["localhost", "127.0.0.1", "::1"].contains(host)
        return isLocal
            ? "is a broker installed and running? sudo apt install mosquitto; systemctl status mosquitto"
            : "check that the broker runs, and listens for other machines: mosquitto 2 needs 'listener \(port)' "
                + "in a file in /etc/mosquitto/conf.d; a firewall may block it"
    }
}
