package import Base

/// How to reach the broker and what to agree on with it.
package struct Broker: Hashable, Sendable {
    /// Messages are posted there over HTTP, and there is no MQTT; nil: `hosts` and `port` have an MQTT broker.
    package var endpoint: Endpoint?
    /// Names or addresses, tried in turn; never empty.
    package var hosts = ["localhost"]
    /// 0: offline. Everything works and is kept in the history, nothing is sent.
    package var port: UInt16 = 1883
    package var tls = false
    /// Path; nil: the system's certificates.
    package var caFile: String?
    package var clientCertificateFile: String?
    package var clientKeyFile: String?
    /// The login; nil: none.
    package var username: String?
    package var password: Secret?
    /// Path of a file whose first line is the password.
    package var passwordFile: String?
    @ExactString package var clientID: String
    package var keepalive = Duration.seconds(60)
    package var cleanSession = false
    /// With `v5`, 3.1.1 is spoken with a broker that does not speak 5.
    package var protocolLevel = MQTTProtocolLevel.v5
    /// 0, 1 or 2, for all that is published.
    package var qos = QoS.atLeastOnce
    /// Locations are retained. Nothing else of OwnTracks ever is, but the card.
    package var retainsLocations = true
    /// `/waypoint` is published unasked when a region changes.
    package var publishesWaypoints = false

    package var isOffline: Bool { port == 0 && endpoint == nil }

    /// The part of the address that is not secret.
    package var name: String { endpoint?.origin ?? place(of: hosts[0]) }

    /// `host:port`
    package func place(of host: String) -> String { "\(host):\(port)" }

    /// More addresses belong to one name.
    package static let mostHosts = 16

    /// The login over HTTP: the password beside the address goes before that in it. Without any password none is sent.
    package var login: Endpoint.Login? {
        if let password { return Endpoint.Login(user: username ?? "", password: password) }
        return endpoint?.login
    }
}
