/// How a message was dropped that exceeds `BrokerSettings.QueueLimits.largestPacket`, or has QoS 2.
package enum DroppedMessage: Hashable, Sendable {
    /// The message was too large and was acknowledged without its payload. `size`: bytes of the packet. A topic that is
    /// not UTF-8 is repaired.
    case tooLarge(topic: String, size: Int)
    /// The next connection clears the session, and with it every message that waits at the broker.
    case sessionDiscarded(BrokerFailure)
    /// The message is too large and came again with a new session, so the broker retains it. There are no subscriptions
    /// for this time.
    case subscriptionsWithheld(for: Duration)
}
