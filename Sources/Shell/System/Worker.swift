public import Base
public import Synchronization

// The types are `public` for the compiler: in another module it specialises no method of a generic type that is `package`, not
// even an inlinable one (Swift 6.2). Without that, each access to the mail looks up how large the mail is, and an enter takes a
// twentieth more instructions.

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

/// A thread that carries out orders and answers with events, and its owner's side of the mail between them.
///
/// No call waits for the thread, except `stop` and `join`. The thread ends with its owner.
public final class Worker<Mail: WorkerMail>: Sendable {
    @usableFromInline let mailbox: WorkerMailbox<Mail>
    private let thread = Mutex<WorkerThread?>(nil)

    /// - Parameter wake: Called on the thread when there are events; it must not block.
    /// - Throws: when the process has no descriptors left.
    package init(_ mail: Mail, wake: @escaping @Sendable () -> Void) throws(SystemError) {
        mailbox = try WorkerMailbox(mail, wake: wake)
    }

    /// Starts the thread. Orders that were submitted before wait for it. Calling it again does nothing.
    ///
    /// - Parameters:
    ///   - name: The name that `ps` shows, at most 15 bytes.
    ///   - work: Called on the thread. It returns when a stop was requested and all earlier orders are done, or the
    ///     time for the stop is over.
    /// - Throws: when no thread can be created.
    package func start(
        name: String, _ work: @escaping @Sendable (WorkerMailbox<Mail>) -> Void
    ) throws(SystemError) {
        try thread.withLock { thread throws(SystemError) in
            guard thread == nil else { return }
            thread = try WorkerThread(name: name) { [mailbox] in work(mailbox) }
        }
    }

    /// - Returns: false if there is no room; the order was not accepted.
    @inlinable @discardableResult
    package func submit(_ order: Mail.Order) -> Bool { mailbox.submit(order) }

    /// Removes and returns the events since the last call, in order.
    @inlinable
    package func drainEvents() -> [Mail.Event] { mailbox.withMail { $0.drainEvents() } }

    /// Reads the mail.
    @inlinable
    package func read<Result: Sendable>(_ body: (Mail) -> Result) -> Result { mailbox.withMail { body($0) } }

    /// Requests a stop, and waits until the thread has ended, but at most for `limit`. The thread has three quarters of
    /// that time for its orders; the rest is for the last steps.
    ///
    /// - Returns: false if the thread has not ended by then. It ends later by itself.
    package func stop(within limit: Duration) -> Bool { join(until: requestStop(within: limit)) }

    /// Requests a stop, as `stop`, and does not wait for it.
    ///
    /// - Returns: When the thread should have ended.
    @discardableResult
    package func requestStop(within limit: Duration) -> MonotonicInstant {
        let now = Clocks.now()
        mailbox.stop(by: now.advanced(by: limit * 0.75))
        return now.advanced(by: limit)
    }

    /// Waits until the thread has ended.
    ///
    /// - Returns: false if it has not ended at `end`.
    package func join(until end: MonotonicInstant) -> Bool {
        guard let running = thread.withLock({ $0 }) else { return true }
        return running.join(until: end)
    }

    deinit {
        // The thread owns the mail but not this object, and would continue without an owner.
        mailbox.stop(by: Clocks.now())
    }
}

/// The thread's side of the mail between a worker and its owner.
public final class WorkerMailbox<Mail: WorkerMail>: Sendable {
    @usableFromInline
    struct Shared {
        @usableFromInline var mail: Mail
        @usableFromInline var stopBy: MonotonicInstant?
    }

    @usableFromInline let shared: Mutex<Shared>
    /// Wakes the thread when there is an order or a request to stop.
    private let bell: Waker
    @usableFromInline let wakeOwner: @Sendable () -> Void

    fileprivate init(_ mail: Mail, wake: @escaping @Sendable () -> Void) throws(SystemError) {
        bell = try Waker()
        shared = Mutex(Shared(mail: mail))
        wakeOwner = wake
    }

    @inlinable
    func submit(_ order: Mail.Order) -> Bool {
        let isAccepted = withMail { $0.append(order) }
        if isAccepted { ring() }
        return isAccepted
    }

    @usableFromInline
    func ring() { bell.wake() }

    fileprivate func stop(by end: MonotonicInstant) {
        shared.withLock { $0.stopBy = end }
        ring()
    }

    /// Readable from an order or a request to stop until the next `take`.
    package var descriptor: Int32 { bell.descriptor }

    /// When a requested stop must be complete; nil if none is requested.
    @inlinable
    package var stopBy: MonotonicInstant? { shared.withLock { $0.stopBy } }

    /// Clears the wake-up, and gives access to the mail and the request to stop. With a request, all earlier orders are
    /// in the mail.
    @inlinable
    package func take<Result: Sendable>(_ body: (inout Mail, _ stopBy: MonotonicInstant?) -> Result) -> Result {
        clearBell()
        return shared.withLock { body(&$0.mail, $0.stopBy) }
    }

    @usableFromInline
    func clearBell() { bell.clear() }

    @inlinable
    package func withMail<Result: Sendable>(_ body: (inout Mail) -> Result) -> Result {
        shared.withLock { body(&$0.mail) }
    }

    /// Passes events to the owner, and wakes it if there are any.
    @inlinable
    package func post(_ events: [Mail.Event]) {
        if !events.isEmpty { update { $0.post(events) } }
    }

    /// Changes the mail, and wakes the owner.
    @inlinable
    package func update(_ change: (inout Mail) -> Void) {
        withMail { change(&$0) }
        wakeOwner()
    }

    /// Waits until there is an order or a request to stop since the last `take`.
    ///
    /// - Parameter end: nil for no limit.
    /// - Returns: false if there is none at `end`.
    @discardableResult
    package func wait(until end: MonotonicInstant?) -> Bool { bell.wait(until: end) }
}
