import Base
import Synchronization
package import System

/// Decodes an answer, on the posting thread.
///
/// - Returns: Whether the answer contained commands.
package typealias HTTPAnswerReading = @Sendable (HTTPAnswer, HTTPSender) -> Bool

/// OwnTracks over HTTP: posts messages one after another, in the order in which they were published, on its own thread.
/// After a failure the same message is posted again.
package final class HTTPConnection: Sendable {
    private let context: HTTPContext
    private let thread = Mutex<WorkerThread?>(nil)

    /// - Parameters:
    ///   - sender: The identity for the first, empty request.
    ///   - tell: Called on the thread with each event; it must not block.
    ///   - read: Called on the thread with each answer that is not empty; it may block.
    /// - Throws: when the process has no descriptors left.
    package init(
        _ settings: HTTPSettings, sender: HTTPSender, tell: @escaping @Sendable (HTTPEvent) -> Void,
        read: @escaping HTTPAnswerReading
    ) throws(SystemError) {
        context = HTTPContext(
            settings: settings, sender: sender, mailbox: try HTTPMailbox(limit: settings.limits.queue), tell: tell,
            read: read)
    }

    /// Starts the thread. Calling it again does nothing.
    /// - Throws: when no thread can be created.
    package func start() throws(SystemError) {
        try thread.withLock { thread throws(SystemError) in
            guard thread == nil else { return }
            thread = try WorkerThread(name: "http") { [context] in
                var worker = HTTPWorker(context)
                worker.run()
            }
        }
    }

    /// Posts the message after all earlier ones. Exactly one `taken` or `refused` follows for its token, unless the
    /// connection is stopped before.
    /// - Returns: false if the queue is full; the message was not accepted.
    package func post(_ message: HTTPPost) -> Bool { context.mailbox.add(message) }

    /// Posts the waiting messages and ends the thread. It blocks the caller for no longer than `limit`.
    /// - Returns: false if the thread is still blocked; it ends by itself afterwards.
    @discardableResult
    package func stop(within limit: Duration) -> Bool {
        guard let running = thread.withLock({ $0 }) else { return true }
        let now = Clocks.now()
        context.mailbox.stop(by: now.advanced(by: limit * 0.75))
        defer { thread.withLock { $0 = nil } }
        return running.join(until: now.advanced(by: limit))
    }

    deinit {
        // The thread owns the mailbox but not this object, and would continue without an owner.
        if thread.withLock({ $0 != nil }) { context.mailbox.stop(by: Clocks.now()) }
    }
}

/// The data of the posting thread.
struct HTTPContext: Sendable {
    let settings: HTTPSettings
    let sender: HTTPSender
    let mailbox: HTTPMailbox
    let tell: @Sendable (HTTPEvent) -> Void
    let read: HTTPAnswerReading
}
