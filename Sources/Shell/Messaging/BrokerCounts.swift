/// The counters of a broker connection, since it was created.
package struct BrokerCounts: Hashable, Sendable {
    /// Messages that were given to the connection and have no answer yet.
    package var unanswered: Int
    /// Messages that were not accepted because the queue was full.
    package var refused: Int
    /// Received messages that were dropped: the owner was too slow, they were too large, or their topic
    /// was not text.
    package var dropped: Int
}
