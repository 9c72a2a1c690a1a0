/// An order to the broker's thread.
enum BrokerOrder: Sendable {
    case publish(QueuedPublication)
    /// Replaces the whole set.
    case subscribe(to: Set<String>)
}
