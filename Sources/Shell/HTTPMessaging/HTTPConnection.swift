package import System

/// Decodes an answer, on the posting thread.
///
/// - Returns: The events for the owner, and whether the answer contained commands.
package typealias HTTPAnswerReading<Event> = @Sendable (HTTPAnswer, HTTPSender) -> (events: [Event], hasCommands: Bool)

/// OwnTracks over HTTP: posts messages one after another, in the order in which they were published, on its own thread.
/// After a failure the same message is posted again, as `PostQueue` says.
///
/// `Event` is the owner's type of events.
package final class HTTPConnection<Event: Sendable>: Sendable {
    private let context: HTTPContext<Event>
    private let worker: Worker<HTTPMail<Event>>

    /// - Parameters:
    ///   - sender: The identity for the first, empty request.
    ///   - wake: Called on the thread when there are events; it must not block.
    ///   - translate: Called on the thread with each event; it must not block.
    ///   - read: Called on the thread with each answer that is not empty; it may block.
    /// - Throws: when the process has no descriptors left.
    package init(
        _ settings: HTTPSettings, sender: HTTPSender, wake: @escaping @Sendable () -> Void,
        translate: @escaping @Sendable (HTTPEvent) -> Event, read: @escaping HTTPAnswerReading<Event>
    ) throws(SystemError) {
        context = HTTPContext(settings: settings, sender: sender, translate: translate, read: read)
        worker = try Worker(HTTPMail(limit: settings.limits.queue), wake: wake)
    }

    /// Starts the thread. Calling it again does nothing.
    ///
    /// - Parameter wait: Called on the thread before the first request, and may block: a former connection is to end first.
    /// - Throws: when no thread can be created.
    package func start(after wait: @escaping @Sendable () -> Void = {}) throws(SystemError) {
        try worker.start(name: "http") { [context] mailbox in
            wait()
            var worker = HTTPWorker(context, mailbox)
            worker.run()
        }
    }

    /// Posts the message after all earlier ones. Exactly one `taken`, `refused` or `givenUp` follows for its token, unless the
    /// connection is stopped before.
    /// - Returns: false if the queue is full; the message was not accepted.
    package func post(_ message: HTTPPost) -> Bool { worker.submit(message) }

    /// Removes and returns the events since the last call, in order.
    package func drainEvents() -> [Event] { worker.drainEvents() }

    /// Posts the waiting messages and ends the thread. It blocks the caller for no longer than `limit`.
    /// - Returns: false if the thread is still blocked; it ends by itself afterwards.
    @discardableResult
    package func stop(within limit: Duration) -> Bool { worker.stop(within: limit) }

    /// Does the same without blocking the caller.
    ///
    /// - Returns: What waits until the thread has ended, or `limit` is over.
    package func end(within limit: Duration) -> @Sendable () -> Void {
        let end = worker.requestStop(within: limit)
        return { [worker] in _ = worker.join(until: end) }
    }
}
