import Base
import System

/// The loop of the posting thread: check that the server is reachable, post messages one after another, wait after a
/// failure, repeat. It decides nothing.
struct HTTPWorker<Event: Sendable> {
    private let context: HTTPContext<Event>
    private let mailbox: WorkerMailbox<BoundedMail<HTTPPost, Event>>
    private var backoff: Backoff
    private var generator = SystemRandomNumberGenerator()
    /// Consecutive answers to the same message that the address does not exist, although the server accepted the empty
    /// message there.
    private var failures = (token: Int64.min, count: 0)

    /// After this many failures the message counts as refused. Otherwise it would block all later messages.
    private static var mostFailures: Int { 3 }

    /// The progress of one session with the server.
    private struct Session {
        var reachedAt: MonotonicInstant?
        var hasDelivered = false
    }

    init(_ context: HTTPContext<Event>, _ mailbox: WorkerMailbox<BoundedMail<HTTPPost, Event>>) {
        self.context = context
        self.mailbox = mailbox
        backoff = Backoff(from: context.settings.limits.firstRetryDelay)
    }

    /// Returns after a requested stop is complete.
    mutating func run() {
        while mailbox.stopBy == nil {
            var session = Session()
            do throws(HTTPFailure) {
                try serve(&session)
            } catch {
                guard mailbox.stopBy == nil else { return }
                let lasted = session.reachedAt.map { $0.duration(to: Clocks.now()) } ?? .zero
                backoff.connectionEnded(after: session.hasDelivered ? Backoff.lasting : lasted)
                let delay = backoff.nextDelay(using: &generator)
                tell(.failed(error, retryIn: delay))
                pause(for: delay)
            }
        }
    }

    /// Posts until a stop is requested and no message is left, or until the stop's deadline.
    private mutating func serve(_ session: inout Session) throws(HTTPFailure) {
        var client = try HTTPClient(context.settings)
        guard let greeting = try greet(&client) else { return }
        session.reachedAt = Clocks.now()
        tell(.reached)
        rest(after: greeting, by: context.sender)
        while true {
            guard let message = nextMessage() else { return }
            guard let answer = try post(message.body, by: message.sender, &client) else { return }
            // A server that has refused everything, such as one that misses a client certificate, refuses no message.
            let hasAccepted = greeting.isSuccess || session.hasDelivered || answer.isAboutBody
            if answer.isSuccess {
                session.hasDelivered = true
                mailbox.withMail { $0.removeFirst() }
                tell(.taken(token: message.token))
                rest(after: answer, by: message.sender)
            } else if hasAccepted, answer.isRefusal || isRefusedByRepetition(message.token, answer) {
                mailbox.withMail { $0.removeFirst() }
                tell(.refused(token: message.token, status: answer.status))
            } else {
                throw .status(answer.status)
            }
        }
    }

    /// Posts an empty message, which servers ignore, to check the address and the login: a wrong address must not cost
    /// a message. Waiting commands come with the answer.
    ///
    /// - Returns: nil if a stop was requested.
    private func greet(_ client: inout HTTPClient) throws(HTTPFailure) -> HTTPAnswer? {
        guard let answer = try post([], by: context.sender, &client) else { return nil }
        // Some servers refuse an empty message. Whether this one accepts others, the first one shows.
        guard answer.isSuccess || answer.isRefusal else { throw .status(answer.status) }
        return answer
    }

    private func post(
        _ body: [UInt8], by sender: HTTPSender, _ client: inout HTTPClient
    ) throws(HTTPFailure) -> HTTPAnswer? {
        try client.post(body, by: sender, bell: mailbox.descriptor) {
            mailbox.take { _, stopBy in stopBy }
        }
    }

    /// Whether the message and not the address is wrong.
    private mutating func isRefusedByRepetition(_ token: Int64, _ answer: HTTPAnswer) -> Bool {
        guard answer.isAboutAddress else { return false }
        failures = (token, failures.token == token ? failures.count + 1 : 1)
        return failures.count >= Self.mostFailures
    }

    /// Passes an answer to the owner. After an answer with commands, the worker pauses.
    private func rest(after answer: HTTPAnswer, by sender: HTTPSender) {
        guard answer.isSuccess, !answer.body.isEmpty || answer.excess != nil,
            let reading = context.read(answer, sender)
        else { return }
        mailbox.post([reading.event])
        if reading.hasCommands { pause(for: context.settings.limits.pause) }
    }

    private func tell(_ event: HTTPEvent) { mailbox.post([context.translate(event)]) }

    /// Waits for a message if there is none.
    ///
    /// - Returns: The oldest message; it stays the oldest until it is removed. nil: a stop was requested, and none is left.
    private func nextMessage() -> HTTPPost? {
        while true {
            let (message, stopBy) = mailbox.take { mail, stopBy in (mail.first, stopBy) }
            if message != nil || stopBy != nil { return message }
            mailbox.wait(until: nil)
        }
    }

    /// Waits for a time, or until there is a request to stop.
    private func pause(for duration: Duration) {
        let end = Clocks.now().advanced(by: duration)
        while mailbox.take({ _, stopBy in stopBy }) == nil, mailbox.wait(until: end) {}
    }
}
