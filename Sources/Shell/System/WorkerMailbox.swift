public import Base
public import Synchronization

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

    init(_ mail: Mail, wake: @escaping @Sendable () -> Void) throws(SystemError) {
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

    func stop(by end: MonotonicInstant) {
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
