package import Base

/// How to reach the broker and what to agree on with it.
package struct Broker: Hashable, Sendable {
    /// Where messages are posted over HTTP, without MQTT; nil if `hosts` and `port` are those of an MQTT broker.
    package var endpoint: Endpoint?
    /// Names or addresses, tried in turn; never empty.
    package var hosts = ["localhost"]
    /// 0: offline. Everything works and is kept in the history, but nothing is sent.
    package var port: UInt16 = 1883
    package var tls = false
    /// The path as the libraries open it, as those below; nil for the system's certificates.
    package var caFile: String?
    package var clientCertificateFile: String?
    package var clientKeyFile: String?
    /// The user name of the login; nil for none.
    package var username: String?
    package var password = SecretSetting.absent
    @ExactString package var clientID: String
    package var keepalive = Duration.seconds(60)
    package var cleanSession = false
    /// With `v5`, 3.1.1 is used if the broker does not support 5.
    package var protocolLevel = MQTTProtocolLevel.v5
    /// 0, 1 or 2, for everything that is published.
    package var qos = QoS.atLeastOnce
    /// Whether locations are retained. Of OwnTracks' other messages only the card is retained.
    package var retainsLocations = true
    /// Whether `/waypoint` is published unasked when a region changes.
    package var publishesWaypoints = false

    package var isOffline: Bool { port == 0 && endpoint == nil }

    /// What receives the messages, in words: `broker`, or `server` over HTTP.
    package var receiver: String { endpoint == nil ? "broker" : "server" }

    /// The part of the address that is not secret.
    package var name: String { endpoint?.origin ?? hostAndPort(of: hosts[0]) }

    /// `host:port`
    package func hostAndPort(of host: String) -> String { "\(host):\(port)" }

    /// For the advice on a refused login; empty: nothing is odd about the password.
    package var passwordRemark: String { password.secret?.hasOuterBlank == true ? "; \(Secret.outerBlank)" : "" }

    /// The limit of `hosts`. More addresses should have one name.
    package static let mostHosts = 16

    /// The login over HTTP: that of the setting `password`, else that in the address; nil if there is neither.
    package var login: Endpoint.Login? {
        if let password = password.secret { return Endpoint.Login(user: username ?? "", password: password) }
        return endpoint?.login
    }
}

extension Secret {
    /// Whether it begins or ends with a blank. It is sent as it is: it may be meant.
    package var hasOuterBlank: Bool {
        [revealed.first, revealed.last].contains { $0?.isWhitespace == true }
    }

    /// A line without the byte order mark at its beginning; nil if nothing else is in it.
    package static func withoutMark(_ line: String) -> String? {
        let rest = line.unicodeScalars.first == "\u{FEFF}" ? String(line.unicodeScalars.dropFirst()) : line
        return rest.isEmpty ? nil : rest
    }

    /// What is said of such a password.
    package static let outerBlank = "the password begins or ends with a blank, which is sent as a part of it"
}
