/// Orders in sequence, up to a limit. Events are not limited, so the thread should post only a few for each order.
package struct BoundedMail<Order: Sendable, Event: Sendable>: WorkerMail {
    private let limit: Int
    private var orders: [Order] = []
    private var events: [Event] = []

    /// - Parameter limit: Largest number of waiting orders.
    package init(limit: Int) { self.limit = limit }

    package mutating func append(_ order: Order) -> Bool {
        guard orders.count < limit else { return false }
        orders.append(order)
        return true
    }

    /// The oldest order. It counts as waiting until it is removed.
    package var first: Order? { orders.first }

    package mutating func removeFirst() { orders.removeFirst() }

    package mutating func post(_ events: [Event]) { self.events += events }

    package mutating func drainEvents() -> [Event] {
        defer { events = [] }
        return events
    }
}
