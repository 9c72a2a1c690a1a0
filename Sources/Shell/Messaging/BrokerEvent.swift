package import Base

/// An event from the broker's thread for its owner. Values only.
package enum BrokerEvent: Hashable, Sendable {
    /// The broker accepted the connection; `sessionPresent`: it has kept the session.
    case connected(sessionPresent: Bool)
    /// An attempt failed or a connection ended; the next attempt follows by itself after `retryIn`.
    case disconnected(BrokerFailure, retryIn: Duration)
    /// Another host of a cluster is tried next.
    case moved(toHost: String)
    case message(ReceivedMessage)
    /// A message that the reader decoded on the broker's thread.
    case decoded(DecodedMessage)
    /// A message was dropped, because it would have taken too much memory.
    case untaken(UntakenMessage)
    /// QoS 0: it was sent; QoS 1 and 2: the broker has it.
    case acknowledged(MessageToken)
    /// The broker refused a message of the outbox with this reason code, which may pass, and it is sent again. Told once for
    /// a message.
    case postponed(MessageToken, reasonCode: UInt8)
    /// Over HTTP: the server did not accept this message of the outbox, and accepted later ones. It is sent again once an hour.
    case steppedAside(MessageToken, topic: String, reason: String)
    /// Over HTTP: whether the server accepts messages is not known, and only one shows it. It follows `disconnected`.
    case wantsMessage
    /// Over HTTP: what an answer of the server contained beside commands.
    case answered(String)
    /// The message will not be sent, or the broker will never accept it.
    case refused(MessageToken, Refusal)
    /// The broker has granted the subscription, on this connection. It may send retained messages before it says so and
    /// after.
    case subscribed(topicFilter: String)
    /// The broker refused the subscription (only MQTT 3.1.1 and later report this). Told once on a connection.
    case subscriptionRefused(topicFilter: String)
    /// For the record of refusals, each time something is refused, beside the event that says what becomes of it. A failed
    /// connection is `disconnected` alone.
    case refusal(Refused)
    /// What was refused until now is admitted.
    case admitted(Refused)
    /// What the broker limits on the connection that it accepts, just before `connected`; without a limit it is not told.
    case limited(BrokerLimits)
}

/// What a broker of MQTT 5 announces when it accepts a connection.
package struct BrokerLimits: Hashable, Sendable {
    /// The highest quality of messages to the broker; nil: any.
    package var highestQoS: QoS?
    /// The largest packet to the broker in bytes; nil: any.
    package var largestPacket: UInt32?
    /// Whether it retains messages.
    package var retains = true

    package init(highestQoS: QoS? = nil, largestPacket: UInt32? = nil, retains: Bool = true) {
        (self.highestQoS, self.largestPacket, self.retains) = (highestQoS, largestPacket, retains)
    }

    package static let none = BrokerLimits()
}

/// The owner's number for a message that it publishes. The number of an unanswered message must not be used again.
package struct MessageToken: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// Of a service: whether it is the number of a row of the outbox. Messages without a row have negative tokens.
    package var isStored: Bool { rawValue > 0 }
}

/// A publication that waits for the broker, with its owner's number.
struct QueuedPublication: Hashable, Sendable {
    let token: MessageToken
    let publication: Publication
    var refusals = Refusals()
}

/// What the owner's reader made of a message on the broker's thread. Decoding ten thousand regions takes longer than the
/// radio can wait.
package struct DecodedMessage: Hashable, Sendable {
    package let content: any Hashable & Sendable
    /// Bytes of the message as it came.
    package let byteCount: Int

    package init(_ content: any Hashable & Sendable, byteCount: Int) {
        (self.content, self.byteCount) = (content, byteCount)
    }

    package static func == (left: DecodedMessage, right: DecodedMessage) -> Bool {
        AnyHashable(left.content) == AnyHashable(right.content) && left.byteCount == right.byteCount
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(content)) }
}

/// How a message was dropped that exceeds `BrokerSettings.QueueLimits.largestPacket`, or has QoS 2.
package enum UntakenMessage: Hashable, Sendable {
    /// The message was too large and was acknowledged without its payload. `size`: bytes of the packet. A topic that is
    /// not UTF-8 is repaired.
    case dropped(topic: String, size: Int)
    /// The next connection clears the session, and with it every message that waits at the broker.
    case sessionDiscarded(BrokerFailure)
    /// The message is too large and came again with a new session, so the broker retains it. There are no subscriptions
    /// for this time.
    case subscriptionsWithheld(for: Duration)
}

/// Decodes a message on the broker's thread; nil: the message goes to the owner unchanged.
package typealias MessageReading = @Sendable (ReceivedMessage) -> DecodedMessage?

/// A message from the broker. Its bytes come from outside and are not trusted.
package struct ReceivedMessage: Hashable, Sendable {
    package var topic: String
    package var payload: [UInt8]
    package var qos: QoS
    /// It was kept by the broker and is not news.
    package var retained: Bool
    /// The message is the answer to a post over HTTP; `topic` is the command topic of the sender. It may contain other
    /// messages than commands.
    package var isAnswer: Bool
    /// The topic belongs to `BrokerSettings.transientFilters`: the message is useless later.
    package var isTransient = false

    package init(topic: String, payload: [UInt8], qos: QoS, retained: Bool, isAnswer: Bool = false) {
        self.isAnswer = isAnswer
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.retained = retained
    }
}

/// Why a message was refused for good.
package enum Refusal: Hashable, Sendable, CustomStringConvertible {
    /// A topic with a wildcard, a NUL or over 65535 bytes, or a payload over 256 MiB.
    case malformed
    /// Larger than the limit that the broker announced (MQTT 5 only).
    case tooLarge
    /// A reason code of MQTT 5, 0x80 or above.
    case byBroker(reasonCode: UInt8)
    /// Sent alone on a connection, the message made the broker close it, this many times in a row.
    case endsConnection(times: Int)
    /// The message is transient, and the connection ended before it was sent.
    case late
    /// An HTTP status that concerns the message.
    case byEndpoint(status: Int)
    /// The server accepted neither this message nor many others, and accepted later ones.
    case givenUp

    package var description: String {
        switch self {
        case .malformed: "not a topic or payload that MQTT can carry"
        case .tooLarge: "larger than the broker accepts"
        case .byBroker(let code): "the broker refuses it: \(BrokerFailure.reason(code: code))"
        case .endsConnection(let times): "the broker closed the connection \(times) times in a row when it was sent"
        case .late: "the connection ended before it was sent"
        case .byEndpoint(let status): "the server answers \(status)"
        case .givenUp: "the server does not accept it, and too many such messages wait"
        }
    }

    /// The same for a record that names the object.
    package var reason: String {
        if case .byBroker(let code) = self { BrokerFailure.reason(code: code) } else { description }
    }

    /// The kind in the record of refusals; nil: nobody refused it.
    package var kind: Refused.Kind? {
        switch self {
        case .late: nil
        case .tooLarge, .byBroker(0x95), .byBroker(0x9b): .size
        case .byBroker(0x9a): .retain
        case .malformed, .byBroker, .endsConnection: .message
        case .byEndpoint, .givenUp: .post
        }
    }

    /// The descriptions of all refusals that are about a limit of the broker. The message may be taken once the limit is another.
    package static let limits: Set<String> = Set(
        [Refusal.tooLarge, .byBroker(reasonCode: 0x95), .byBroker(reasonCode: 0x9b)].map(\.description))
}
