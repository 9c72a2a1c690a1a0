package import Base
import Synchronization

// `Worker`, `WorkerMailbox` and `WorkerMail` are `public` for the compiler: in another module it specialises no method of a
// generic type that is `package`, not even an inlinable one (Swift 6.2). Without that, each access to the mail looks up how large
// the mail is, and an enter takes a twentieth more instructions.

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
