import Base
import CCurl
import Glibc
import Synchronization
package import System

/// Takes an answer apart, on the thread that posts.
///
/// - Returns: Whether there were commands in it.
package typealias HTTPAnswerReading = @Sendable (HTTPAnswer, HTTPSender) -> Bool

/// OwnTracks over HTTP: posts messages one after the other, in the order in which they were given, on a thread of its own.
/// A message that was not taken stays the next one, through all failures.
package final class HTTPConnection: Sendable {
    private let context: HTTPContext
    private let thread = Mutex<pthread_t?>(nil)

    /// - Parameters:
    ///   - sender: In whose name the server is greeted.
    ///   - tell: Called on the thread with each event; it must not block.
    ///   - read: Called on the thread with each answer that is not empty; it may take its time.
    /// - Throws: when the process has no descriptors left.
    package init(
        _ settings: HTTPSettings, sender: HTTPSender, tell: @escaping @Sendable (HTTPEvent) -> Void,
        read: @escaping HTTPAnswerReading
    ) throws(SystemError) {
        context = HTTPContext(
            settings: settings, sender: sender, mailbox: try HTTPMailbox(limit: settings.limits.queue), tell: tell,
            read: read)
    }

    /// Begins. Calling it again does nothing.
    /// - Throws: when the system gives no thread.
    package func start() throws(SystemError) {
        let result: Int32 = thread.withLock { thread in
            guard thread == nil else { return 0 }
            var created = pthread_t()
            let given = Unmanaged.passRetained(context)
            let result = pthread_create(&created, nil, runHTTPThread, given.toOpaque())
            if result == 0 { thread = created } else { given.release() }
            return result
        }
        guard result == 0 else { throw SystemError("pthread_create", code: result) }
    }

    /// Posts as soon as those before it are taken. Exactly one `taken` or `refused` follows for its token, unless the
    /// connection is stopped before.
    /// - Returns: false if the queue is full; the message was not taken.
    package func post(_ message: HTTPPost) -> Bool { context.mailbox.add(message) }

    /// Lets what waits be posted and ends the thread. It blocks the caller for no longer than `limit`.
    /// - Returns: false if the thread was still held up by then; it ends by itself afterwards.
    @discardableResult
    package func stop(within limit: Duration) -> Bool {
        guard let running = thread.withLock({ $0 }) else { return true }
        context.mailbox.stop(by: Clocks.now().advanced(by: limit * 0.75))
        let hasEnded = context.mailbox.finished.wait(for: limit)
        // Rung last of all, so that joining does not wait.
        if hasEnded { pthread_join(running, nil) } else { pthread_detach(running) }
        thread.withLock { $0 = nil }
        return hasEnded
    }

    deinit {
        // The thread owns the mailbox but not this object, and would go on without an owner.
        guard let running = thread.withLock({ $0 }) else { return }
        context.mailbox.stop(by: Clocks.now())
        pthread_detach(running)
    }
}

/// What the thread is given.
final class HTTPContext: Sendable {
    let settings: HTTPSettings
    let sender: HTTPSender
    let mailbox: HTTPMailbox
    let tell: @Sendable (HTTPEvent) -> Void
    let read: HTTPAnswerReading

    init(
        settings: HTTPSettings, sender: HTTPSender, mailbox: HTTPMailbox, tell: @escaping @Sendable (HTTPEvent) -> Void,
        read: @escaping HTTPAnswerReading
    ) {
        self.settings = settings
        self.sender = sender
        self.mailbox = mailbox
        self.tell = tell
        self.read = read
    }
}

private func runHTTPThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let given = Unmanaged<HTTPContext>.fromOpaque(context).takeRetainedValue()
    curl_name_this_thread("http")
    // All signals are the loop's; and SIGPIPE, which TLS risks with every write to a closed connection, becomes an error of
    // that write.
    var every = sigset_t()
    sigfillset(&every)
    pthread_sigmask(SIG_SETMASK, &every, nil)
    var worker = HTTPWorker(given)
    worker.run()
    given.mailbox.finished.wake()
    return nil
}
