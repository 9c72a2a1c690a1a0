import Base
package import Configuration
package import Messaging
import OwnTracks

extension BrokerSettings {
    /// The purpose of a connection decides its will, its client id and whether the broker keeps its session.
    package enum Purpose {
        /// The connection for everything of OwnTracks. Only this one has the client id of the configuration.
        case ownTracks(at: Int64)
        /// Holds the retained availability for Home Assistant, on this topic.
        case availability(topic: String)
        /// The connection of a command beside the running service. Its name is appended to the client id: `doctor` and
        /// `setup` connect as `<clientId>-doctor`.
        case command(String)
    }

    package init(_ configuration: Configuration, for purpose: Purpose) {
        let broker = configuration.broker
        let tracker = configuration.trackers[0]
        self.init(hosts: broker.hosts, port: broker.port, clientID: broker.clientID)
        if broker.endpoint?.isTLS ?? broker.tls {
            tls = TLS(
                caFile: broker.caFile, clientCertificateFile: broker.clientCertificateFile,
                clientKeyFile: broker.clientKeyFile)
        }
        username = broker.username
        password = broker.password.secret
        if let address = broker.endpoint {
            endpoint = Posting(url: address.url, senders: configuration.senders)
            username = broker.login?.user
            password = broker.login?.password
        }
        keepalive = broker.keepalive
        cleanSession = broker.cleanSession
        protocolLevel = broker.protocolLevel
        fallsBack = true
        switch purpose {
        case .ownTracks(let timestamp):
            let (payload, timePlace) = LastWill(timestamp: timestamp).timed
            will = Will(
                topic: tracker.topics.base, payload: payload, qos: broker.qos, retain: false, timePlace: timePlace)
        case .availability(let topic):
            clientID += "-availability"
            self.name = "availability"
            (cleanSession, subscriptionQoS) = (true, .atMostOnce)
            will = Will(
                topic: topic, payload: Array("offline".utf8), qos: broker.qos, retain: true)
        case .command(let name):
            clientID += "-\(name)"
            cleanSession = true
        }
    }
}

extension Configuration {
    /// The identities over HTTP. The apps take "user" for a user without a name.
    package var senders: [BrokerSettings.Posting.Sender] {
        trackers.map { .init(base: $0.topics.base, user: $0.username ?? "user", device: $0.deviceID) }
    }
}
