import Base
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
    private let thread = Mutex<WorkerThread?>(nil)

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
        try thread.withLock { thread throws(SystemError) in
            guard thread == nil else { return }
            thread = try WorkerThread(name: "http") { [context] in
                var worker = HTTPWorker(context)
                worker.run()
            }
        }
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
        let now = Clocks.now()
        context.mailbox.stop(by: now.advanced(by: limit * 0.75))
        defer { thread.withLock { $0 = nil } }
        return running.join(until: now.advanced(by: limit))
    }

    deinit {
        // The thread owns the mailbox but not this object, and would go on without an owner.
        if thread.withLock({ $0 != nil }) { context.mailbox.stop(by: Clocks.now()) }
    }
}

/// What the thread is given.
struct HTTPContext: Sendable {
    let settings: HTTPSettings
    let sender: HTTPSender
    let mailbox: HTTPMailbox
    let tell: @Sendable (HTTPEvent) -> Void
    let read: HTTPAnswerReading
}
