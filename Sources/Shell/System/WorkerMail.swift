/// The orders and events that wait between a thread and its owner. The mail limits their number: it joins, drops or
/// refuses what has no room. It is a value and does not depend on threads.
public protocol WorkerMail: Sendable {
    associatedtype Order: Sendable
    associatedtype Event: Sendable

    /// Adds an order after the waiting ones, or joins it with them.
    ///
    /// - Returns: false if there is no room; the order was not accepted.
    mutating func append(_ order: Order) -> Bool
    /// Adds events for the owner.
    mutating func post(_ events: [Event])
    /// Removes and returns the events, in order.
    mutating func drainEvents() -> [Event]
}
