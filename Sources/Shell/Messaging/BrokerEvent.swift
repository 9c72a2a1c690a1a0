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
    case dropped(DroppedMessage)
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

/// Decodes a message on the broker's thread; nil: the message goes to the owner unchanged.
package typealias MessageReading = @Sendable (ReceivedMessage) -> DecodedMessage?
