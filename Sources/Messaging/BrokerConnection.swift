import Base
import Beacon
import CMosquitto
import Glibc
import Synchronization

/// The connection to the broker, kept up by a thread of its own: name look-up and TLS may block for seconds,
/// and the radio must not wait for them. It is used from the main thread. Values are exchanged, and
/// `wake` says that there is something to take.
///
/// Order: messages of one topic arrive in the order in which they were given, across reconnections, too.
package final class BrokerConnection: Sendable {
    private let mailbox: Mailbox
    private let settings: BrokerSettings
    private let read: CommandReading?
    private let thread = Mutex<pthread_t?>(nil)

    /// - Parameters:
    ///   - read: called on the broker's thread with each message; it may take its time.
    ///   - wake: called on the broker's thread whenever events are waiting; it must not block.
    /// - Throws: when the process has no descriptors left.
    package init(
        _ settings: BrokerSettings, read: CommandReading? = nil, wake: @escaping @Sendable () -> Void
    ) throws(BrokerFailure) {
        self.settings = settings
        self.read = read
        mailbox = try Mailbox(limits: settings.limits, wake: wake)
    }

    /// Begins to connect. Calling it again does nothing.
    /// - Throws: when the system gives no thread.
    package func start() throws(BrokerFailure) {
        let result: Int32 = thread.withLock { thread in
            guard thread == nil else { return 0 }
            var created = pthread_t()
            let context = Unmanaged.passRetained(ThreadContext(settings: settings, mailbox: mailbox, read: read))
            let result = pthread_create(&created, nil, runBrokerThread, context.toOpaque())
            if result == 0 { thread = created } else { context.release() }
            return result
        }
        guard result == 0 else { throw .other("pthread_create: \(String(cString: strerror(result)))") }
    }

    /// The events since the last call.
    package func takeEvents() -> [BrokerEvent] { mailbox.takeEvents() }

    /// Publishes as soon as there is a connection. Exactly one `acknowledged` or `refused` follows for its
    /// token, unless the connection is stopped before.
    /// - Returns: false if the queue is full; the message was not taken.
    package func publish(_ message: OutgoingMessage) -> Bool { mailbox.add(message) }

    /// Replaces the set of topic filters; they are asked for on this connection and on each one to come, always with
    /// QoS 1: of QoS 2, libmosquitto keeps each message in memory for as long as the broker wants.
    package func subscribe(to filters: Set<String>) { mailbox.order { $0.subscriptions = filters } }

    package var counts: BrokerCounts { mailbox.counts }

    /// Waits until pending messages are acknowledged, sends DISCONNECT (so that no will is published) and ends
    /// the thread. It blocks the caller for no longer than `limit`.
    /// - Returns: false if the thread was still held up in a name look-up or a connect by then; it ends by
    ///   itself afterwards, and does nothing more.
    package func stop(within limit: Duration) -> Bool {
        let end = MonotonicInstant.now.advanced(by: limit)
        guard let running = thread.withLock({ $0 }) else { return true }
        // The rest of the time is for DISCONNECT.
        mailbox.order { $0.stopBy = .now.advanced(by: limit * 0.75) }
        let ended = mailbox.finished.wait(until: end)
        // Rung last of all, so that joining does not wait.
        if ended { pthread_join(running, nil) } else { pthread_detach(running) }
        thread.withLock { $0 = nil }
        return ended
    }

    deinit {
        // The thread owns the mailbox but not this object, and would go on without an owner.
        guard let running = thread.withLock({ $0 }) else { return }
        mailbox.order { $0.stopBy = .now }
        pthread_detach(running)
    }
}

/// The arguments of the thread.
private final class ThreadContext: Sendable {
    let settings: BrokerSettings
    let mailbox: Mailbox
    let read: CommandReading?

    init(settings: BrokerSettings, mailbox: Mailbox, read: CommandReading?) {
        self.settings = settings
        self.mailbox = mailbox
        self.read = read
    }
}

private func runBrokerThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let given = Unmanaged<ThreadContext>.fromOpaque(context).takeRetainedValue()
    name_this_thread("broker")
    // All signals are the loop's; and SIGPIPE, which libmosquitto and OpenSSL risk with every write to a
    // closed connection, becomes an error of that write.
    var every = sigset_t()
    sigfillset(&every)
    pthread_sigmask(SIG_SETMASK, &every, nil)
    var worker = BrokerWorker(settings: given.settings, mailbox: given.mailbox, read: given.read)
    worker.run()
    given.mailbox.finished.ring()
    return nil
}
