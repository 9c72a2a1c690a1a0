package import Base

/// How to reach the broker and what to agree on with it. Secrets are values here: files that hold them
/// have been read by then.
package struct BrokerSettings: Hashable, Sendable {
    /// Names or addresses, tried in turn; never empty.
    package var hosts: [String]
    /// 1 ... 65535; an offline gateway makes no connection.
    package var port: UInt16
    /// nil: a plain connection.
    package var tls: TLS?
    package var username: String?
    package var password: Secret?
    package var clientID: String
    /// The name of the connection in the record of refusals and the metrics.
    package var name = BrokerSettings.main
    /// The name of a service's first connection.
    package static let main = "main"
    /// The name of the connection for `transientFilters`.
    package static let readings = "readings"
    /// Whole seconds, 5 ... 65535 (libmosquitto's limits; brought into them); zero: none, and a dead
    /// connection is noticed only when TCP notices it.
    package var keepalive: Duration = .seconds(60)
    /// The broker forgets queued messages and subscriptions when the connection ends.
    package var cleanSession = false
    package var protocolLevel: MQTTProtocolLevel = .v3_1_1
    /// With `protocolLevel` 5: 3.1.1 is spoken with a broker that does not speak 5.
    package var fallsBack = false
    /// Published by the broker if the connection ends without DISCONNECT.
    package var will: Will?
    /// From the start of an attempt to the broker's CONNACK, name look-up and TCP's own connecting excepted.
    package var connectTimeout: Duration = .seconds(10)
    /// For how long the broker may leave every message in flight unanswered. libmosquitto sends again on a new
    /// connection only, so a broker that loses an acknowledgement would be waited for without end.
    package var acknowledgeTimeout: Duration = .seconds(60)
    /// The first delay between attempts; the next ones double it.
    package var firstRetryDelay: Duration = Backoff.first
    package var limits = QueueLimits()
    /// Messages with positive tokens are in the owner's outbox until they are answered (`MessageToken.isStored`). One that the
    /// broker refuses for a reason that may pass is sent again.
    package var hasOutbox = false
    /// Filters of the topics whose messages are useless later, such as readings. They are subscribed to with QoS 0, so that
    /// the newest come, and not those that have waited for acknowledgements.
    package var transientFilters: Set<String> = []
    /// The quality of the other subscriptions. With a clean session QoS 1 repeats nothing that was lost with a connection. In a
    /// cluster of nats-server each subscription with QoS 1 needs a consumer, whose making may take 4 s after the death of a node,
    /// and what the client publishes waits behind all of them.
    package var subscriptionQoS: QoS = .atLeastOnce
    /// Messages are posted there over HTTP; nil: they go to the MQTT broker.
    package var endpoint: Posting?

    /// - Parameter hosts: Without one, the broker of this machine.
    package init(hosts: [String], port: UInt16, clientID: String) {
        self.hosts = hosts.isEmpty ? ["localhost"] : hosts
        self.port = port
        self.clientID = clientID
    }

    /// An address for messages over HTTP, and the identities that may post there.
    package struct Posting: Hashable, Sendable {
        package var url: String
        /// The gateway's own first; never empty.
        package var senders: [Sender]

        /// An identity by its base topic.
        package struct Sender: Hashable, Sendable {
            package var base: String
            package var user: String
            package var device: String

            package init(base: String, user: String, device: String) {
                self.base = base
                self.user = user
                self.device = device
            }
        }

        package init(url: String, senders: [Sender]) {
            self.url = url
            self.senders = senders
        }

        /// The identity that a message belongs to. A message of no identity any more is posted by the gateway's own.
        package func sender(of publication: Publication) -> Sender? {
            senders.first { $0.base.hasSameBytes(as: publication.owner) } ?? senders.first
        }
    }

    /// Whom to trust, and how to be trusted.
    package struct TLS: Hashable, Sendable {
        /// PEM file; nil: the system's certificates.
        package var caFile: String?
        /// PEM files, both or none.
        package var clientCertificateFile: String?
        package var clientKeyFile: String?

        package init(caFile: String? = nil, clientCertificateFile: String? = nil, clientKeyFile: String? = nil) {
            self.caFile = caFile
            self.clientCertificateFile = clientCertificateFile
            self.clientKeyFile = clientKeyFile
        }
    }

    /// The last will. OwnTracks' own is never retained: it would be taken for the latest location.
    package struct Will: Hashable, Sendable {
        package var topic: String
        package var payload: [UInt8]
        package var qos: QoS
        package var retain: Bool
        /// Where the payload has the digits of the time at which the connection begins, seconds since 1970; nil: nowhere.
        package var timePlace: Range<Int>?

        package init(
            topic: String, payload: [UInt8], qos: QoS, retain: Bool = false, timePlace: Range<Int>? = nil
        ) {
            self.topic = topic
            self.payload = payload
            self.qos = qos
            self.retain = retain
            self.timePlace = timePlace
        }

        /// The will of a connection that begins at this time, seconds since 1970.
        func begun(at epochSeconds: Int64) -> Will {
            guard let timePlace else { return self }
            var will = self
            will.payload.replaceSubrange(timePlace, with: Array(String(epochSeconds).utf8))
            return will
        }

        /// The will as a broker with these limits accepts it.
        func limited(by limits: BrokerLimits) -> Will {
            var will = self
            if let highest = limits.highestQoS { will.qos = min(will.qos, highest) }
            will.retain = will.retain && limits.retains
            return will
        }
    }

    /// Bounds on memory in both directions. Most messages wait in the outbox on disk.
    package struct QueueLimits: Hashable, Sendable {
        /// Messages that wait for a connection or for a place in flight.
        package var outgoing = 256
        /// Further messages, of the outbox (`MessageToken.isStored`). Other messages cannot take these places.
        package var stored = 0
        /// Messages handed to the broker and not yet acknowledged; libmosquitto's own limit, too.
        package var inFlight = 20
        /// Received messages that the owner has not taken yet; the oldest go first.
        package var incoming = 256
        /// Bytes of payload among them.
        package var incomingBytes = 16 << 20
        /// Messages that are taken of one topic in a second; nil: any number. More are dropped (`TopicRates`).
        package var perTopicAndSecond: Int?
        /// The same for all topics of `transientFilters` together, if `perTopicAndSecond` is set.
        package var transientPerSecond = Int.max
        /// Bytes of one packet from the broker: 8 MiB of payload (`JSONLimits` takes no more) and a topic. A larger
        /// message is not taken; what becomes of it: `Docs/messaging.md`.
        package var largestPacket = 8 << 20 + 128 << 10

        package init() {}
    }
}
