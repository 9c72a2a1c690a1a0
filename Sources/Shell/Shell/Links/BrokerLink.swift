package import Base
package import Messaging

/// A service's link to an MQTT broker: one connection at a time, with settings that may change. Events are fetched
/// after `onEvents` was called.
package protocol BrokerLink: AnyObject {
    /// The settings of the latest connection; nil before the first.
    var settings: BrokerSettings? { get }
    /// Whether the broker has accepted the connection, according to the events fetched so far.
    var isConnected: Bool { get }
    /// Received messages that were dropped since the connection was opened.
    var droppedMessages: Int { get }

    /// Connects, and connects again whenever the connection ends.
    ///
    /// - Parameters:
    ///   - filters: The topic filters to subscribe to.
    ///   - read: Decodes received messages on the link's own thread.
    /// - Throws: if no thread or descriptor is left.
    func open(
        _ settings: BrokerSettings, filters: Set<String>, read: MessageReading?, onEvents: @escaping () -> Void
    ) throws
    /// Replaces the topic filters.
    func subscribe(to filters: Set<String>)
    /// - Returns: false if the queue is full or the link is closed.
    func publish(_ publication: Publication, as token: MessageToken) -> Bool
    /// Removes and returns the events since the last call, in order. After `close`, the events before it.
    func drainEvents() -> [BrokerEvent]
    /// Waits until all messages are sent and acknowledged, and disconnects. At the end of the program only: the loop has no turn
    /// meanwhile.
    func close(within limit: Duration)
    /// Does the same without waiting for it. The next connection begins after it, and the events that the connection still has
    /// come before those of the next.
    func retire(within limit: Duration)
}
