package import OwnTracks

/// What the broker's thread tells its owner. Values only.
package enum BrokerEvent: Hashable, Sendable {
    /// The broker accepted us; `sessionPresent`: it remembered us.
    case connected(sessionPresent: Bool)
    /// An attempt failed or a connection ended; the next attempt follows by itself after `retryIn`.
    case disconnected(BrokerFailure, retryIn: Duration)
    /// Another host of a cluster is tried next.
    case moved(toHost: String)
    case message(ReceivedMessage)
    /// A message that was taken apart on the broker's thread.
    case commands(ReceivedCommands)
    /// A message was not taken, because it would have cost too much memory.
    case untaken(UntakenMessage)
    /// QoS 0: it was sent; QoS 1 and 2: the broker has it.
    case acknowledged(MessageToken)
    /// It will not be sent, or the broker will not have it, however often it is tried.
    case refused(MessageToken, Refusal)
    /// The broker will not let us hear this (MQTT 3.1.1 and later say so).
    case subscriptionRefused(topicFilter: String)
}

/// The owner's own number for a message that it publishes. Never reuse one that is unanswered.
package struct MessageToken: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
}

/// A message to publish.
package struct OutgoingMessage: Hashable, Sendable {
    package var token: MessageToken
    package var topic: String
    package var payload: [UInt8]
    package var qos: QoS
    package var retain: Bool
    /// It is worth nothing later: what the connection of the moment cannot send is refused.
    package var isTransient: Bool

    package init(
        token: MessageToken, topic: String, payload: [UInt8], qos: QoS, retain: Bool, isTransient: Bool = false
    ) {
        self.isTransient = isTransient
        self.token = token
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.retain = retain
    }
}

/// What a message on a `/cmd` asks for. Reading ten thousand regions takes longer than the radio can wait,
/// so it is done on the broker's thread; what follows from it is decided by the owner.
package struct ReceivedCommands: Hashable, Sendable {
    package var topic: String
    /// It was kept by the broker and is not news.
    package var retained: Bool
    package var wasEncrypted: Bool
    /// An encrypted message may hold several.
    package var commands: [Result<Command, CommandError>]
    /// Bytes of the message as it came.
    package var byteCount: Int

    package init(
        topic: String, retained: Bool, wasEncrypted: Bool, commands: [Result<Command, CommandError>], byteCount: Int
    ) {
        self.topic = topic
        self.retained = retained
        self.wasEncrypted = wasEncrypted
        self.commands = commands
        self.byteCount = byteCount
    }
}

/// What became of a message that was not taken: over `BrokerSettings.QueueLimits.largestPacket`, or with QoS 2.
package enum UntakenMessage: Hashable, Sendable {
    /// It was too large and was acknowledged without its payload. `size`: bytes of the packet; the topic is repaired where it is no UTF-8.
    case dropped(topic: String, size: Int)
    /// The broker is made to forget the session, and with it every message that waits for us.
    case sessionDiscarded(BrokerFailure)
    /// It is too large and came again with a new session, so the broker retains it. Nothing is subscribed to until then.
    case subscriptionsWithheld(for: Duration)
}

/// Takes a message apart on the broker's thread; nil: it is no command and goes to the owner as it is.
package typealias CommandReading = @Sendable (ReceivedMessage) -> ReceivedCommands?

/// A message that came from the broker. Bytes from outside: believe nothing.
package struct ReceivedMessage: Hashable, Sendable {
    package var topic: String
    package var payload: [UInt8]
    package var qos: QoS
    /// It was kept by the broker and is not news.
    package var retained: Bool
    /// It is the answer to a message over HTTP, whose sender's commands are on `topic`. It may hold what is no command.
    package var isAnswer: Bool

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
    /// Larger than the broker said it takes (MQTT 5 only).
    case tooLarge
    /// A reason code of MQTT 5, 0x80 or above.
    case byBroker(reasonCode: UInt8)
    /// Alone on the connection, it made the broker close it, this many times in a row.
    case endsConnection(times: Int)
    /// It is transient, and the connection ended before it was sent.
    case late
    /// A status of HTTP that is about the message.
    case byEndpoint(status: Int)

    package var description: String {
        switch self {
        case .malformed: "not a topic or payload that MQTT can carry"
        case .tooLarge: "larger than the broker takes"
        case .byBroker(let code): "the broker refuses it: \(BrokerFailure.reason(code: code))"
        case .endsConnection(let times): "the broker ended the connection at it \(times) times in a row"
        case .late: "the connection ended before it was sent"
        case .byEndpoint(let status): "the server answers \(status)"
        }
    }
}
