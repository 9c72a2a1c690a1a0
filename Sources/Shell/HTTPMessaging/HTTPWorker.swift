import Base
import System

/// The loop of the posting thread: check that the server is reachable, post messages one after another, wait after a
/// failure, repeat. `PostQueue` decides which message is the next.
struct HTTPWorker<Event: Sendable> {
    private let context: HTTPContext<Event>
    private let mailbox: WorkerMailbox<HTTPMail<Event>>
    private var backoff: Backoff
    private var generator = SystemRandomNumberGenerator()
    /// Consecutive answers to the same message that the address does not exist, although the server accepted the empty
    /// message there.
    private var failures = (token: Int64.min, count: 0)
    /// The server did not accept the last empty message in a way that may concern that message alone. A real message is
    /// posted in its place, when there is one.
    private var refusesEmptyMessage = false
    /// What the latest answer asks for.
    private var askedPause: Duration?

    /// After this many failures the message counts as refused. Otherwise it would block all later messages.
    private static var mostFailures: Int { 3 }

    /// The progress of one session with the server.
    private struct Session {
        var reachedAt: MonotonicInstant?
        /// Whether the server has accepted the empty message.
        var isGreeted = false
        var hasDelivered = false
    }

    init(_ context: HTTPContext<Event>, _ mailbox: WorkerMailbox<HTTPMail<Event>>) {
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
                mailbox.withMail { $0.queue.endRound() }
                let lasted = session.reachedAt.map { $0.duration(to: Clocks.now()) } ?? .zero
                backoff.connectionEnded(after: session.hasDelivered ? Backoff.lasting : lasted)
                let delay = max(backoff.nextDelay(using: &generator), askedPause ?? .zero)
                tell(.failed(error, retryIn: delay))
                if refusesEmptyMessage { tell(.wantsMessage) }
                pause(for: delay)
            }
        }
    }

    /// Posts until a stop is requested and no message is left, or until the stop's deadline.
    private mutating func serve(_ session: inout Session) throws(HTTPFailure) {
        var client = try HTTPClient(context.settings)
        guard try greet(&client, &session) else { return }
        while true {
            guard let message = nextMessage() else { return }
            let answer: HTTPAnswer
            do throws(HTTPFailure) {
                guard let received = try post(message.body, by: message.sender, &client) else { return }
                answer = received
            } catch {
                try failed(message, error, &session)
                continue
            }
            // A server that has refused everything, such as one that misses a client certificate, refuses no message.
            let hasAccepted = session.isGreeted || session.hasDelivered || answer.isAboutBody
            if answer.isSuccess {
                if session.reachedAt == nil { reached(&session) }
                session.hasDelivered = true
                mailbox.withMail { $0.queue.accepted(message.token) }
                tell(.taken(token: message.token))
                rest(after: answer, by: message.sender)
            } else if hasAccepted, answer.isRefusal || isRefusedByRepetition(message.token, answer) {
                mailbox.withMail { $0.queue.refused(message.token) }
                tell(.refused(token: message.token, status: answer.status))
            } else {
                try failed(message, answer.failure, &session)
            }
        }
    }

    /// Posts an empty message, which servers ignore, to check the address and the login: a wrong address must not cost
    /// a message. Waiting commands come with the answer. A server that takes no empty message gets the first real one instead.
    ///
    /// - Returns: false if a stop was requested.
    private mutating func greet(_ client: inout HTTPClient, _ session: inout Session) throws(HTTPFailure) -> Bool {
        if refusesEmptyMessage, mailbox.withMail({ $0.queue.hasWaiting }) { return true }
        let limit = Clocks.now().advanced(by: context.settings.limits.greeting)
        do throws(HTTPFailure) {
            guard let answer = try post([], by: context.sender, &client, until: limit) else {
                guard mailbox.stopBy == nil else { return false }
                throw .silent
            }
            // Some servers refuse an empty message. Whether this one accepts others, the first one shows.
            guard answer.isSuccess || answer.isRefusal else { throw answer.failure }
            session.isGreeted = answer.isSuccess
            refusesEmptyMessage = false
            reached(&session)
            rest(after: answer, by: context.sender)
            return true
        } catch {
            refusesEmptyMessage = error.isAboutEmptyMessage
            throw error
        }
    }

    private func reached(_ session: inout Session) {
        session.reachedAt = Clocks.now()
        tell(.reached)
    }

    /// - Throws: the failure, if no other message is to be posted now.
    private func failed(
        _ message: HTTPPost, _ failure: HTTPFailure, _ session: inout Session
    ) throws(HTTPFailure) {
        guard failure.isAboutMessage else { throw failure }
        let (outcomes, goesOn) = mailbox.withMail { $0.queue.failed(message.token, at: Clocks.now()) }
        for outcome in outcomes {
            switch outcome {
            case .steppedAside(let post, let failures):
                tell(.steppedAside(token: post.token, name: post.name, failure, failures: failures))
            case .givenUp(let post): tell(.givenUp(token: post.token))
            }
        }
        guard goesOn else { throw failure }
        guard let askedPause else { return }
        // Other messages have to wait, too.
        session.reachedAt = nil
        tell(.failed(failure, retryIn: askedPause))
        pause(for: askedPause)
        if mailbox.stopBy != nil { throw failure }
    }

    /// - Parameter limit: When to give up; nil: the limits of the settings apply.
    /// - Returns: nil if it was given up.
    private mutating func post(
        _ body: [UInt8], by sender: HTTPSender, _ client: inout HTTPClient, until limit: MonotonicInstant? = nil
    ) throws(HTTPFailure) -> HTTPAnswer? {
        askedPause = nil
        let mailbox = mailbox
        let answer = try client.post(body, by: sender, bell: mailbox.descriptor) {
            let stopBy = mailbox.take { _, stopBy in stopBy }
            return [stopBy, limit].compactMap { $0 }.min()
        }
        askedPause = answer?.askedPause
        return answer
    }

    /// Whether the message and not the address is wrong.
    private mutating func isRefusedByRepetition(_ token: Int64, _ answer: HTTPAnswer) -> Bool {
        guard answer.isAboutAddress else { return false }
        failures = (token, failures.token == token ? failures.count + 1 : 1)
        return failures.count >= Self.mostFailures
    }

    /// Passes an answer to the owner. After an answer with commands, the worker pauses.
    private func rest(after answer: HTTPAnswer, by sender: HTTPSender) {
        guard answer.isSuccess, !answer.body.isEmpty || answer.excess != nil else { return }
        let reading = context.read(answer, sender)
        mailbox.post(reading.events)
        if reading.hasCommands { pause(for: context.settings.limits.pause) }
    }

    private func tell(_ event: HTTPEvent) { mailbox.post([context.translate(event)]) }

    /// Waits for a message if there is none.
    ///
    /// - Returns: The next message. nil: a stop was requested, and none is left that has not stepped aside.
    private func nextMessage() -> HTTPPost? {
        while true {
            let (message, due, stopBy) = mailbox.take { mail, stopBy in
                (mail.queue.next(at: Clocks.now()), mail.queue.due, stopBy)
            }
            if let stopBy { return stopBy > Clocks.now() && mailbox.withMail({ $0.queue.hasWaiting }) ? message : nil }
            if let message { return message }
            mailbox.wait(until: due)
        }
    }

    /// Waits for a time, or until there is a request to stop.
    private func pause(for duration: Duration) {
        let end = Clocks.now().advanced(by: duration)
        while mailbox.take({ _, stopBy in stopBy }) == nil, mailbox.wait(until: end) {}
    }
}
