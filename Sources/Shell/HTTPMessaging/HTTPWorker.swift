import Base
import System

/// The loop of the posting thread: check that the server is reachable, post messages one after another, wait after a
/// failure, repeat. It decides nothing.
struct HTTPWorker {
    private let context: HTTPContext
    private var backoff: Backoff
    private var generator = SystemRandomNumberGenerator()
    /// Consecutive answers to the same message that the address does not exist, although the server accepted the empty
    /// message there.
    private var failures = (token: Int64.min, count: 0)

    /// After this many failures the message counts as refused. Otherwise it would block all later messages.
    static let mostFailures = 3

    /// The progress of one session with the server.
    private struct Session {
        var reachedAt: MonotonicInstant?
        var hasDelivered = false
    }

    init(_ context: HTTPContext) {
        self.context = context
        backoff = Backoff(from: context.settings.limits.firstRetryDelay)
    }

    private var mailbox: HTTPMailbox { context.mailbox }

    /// Returns after a requested stop is complete.
    mutating func run() {
        while mailbox.drainDeadline() == nil {
            var session = Session()
            do throws(HTTPFailure) {
                try serve(&session)
            } catch {
                guard mailbox.drainDeadline() == nil else { return }
                let lasted = session.reachedAt.map { $0.duration(to: Clocks.now()) } ?? .zero
                backoff.connectionEnded(after: session.hasDelivered ? Backoff.lasting : lasted)
                let delay = backoff.nextDelay(using: &generator)
                context.tell(.failed(error, retryIn: delay))
                mailbox.pause(for: delay)
            }
        }
    }

    /// Posts until a stop is requested and no message is left, or until the stop's deadline.
    private mutating func serve(_ session: inout Session) throws(HTTPFailure) {
        var client = try HTTPClient(context.settings)
        guard let greeting = try greet(&client) else { return }
        session.reachedAt = Clocks.now()
        context.tell(.reached)
        rest(after: greeting, by: context.sender)
        while true {
            guard let message = mailbox.next else {
                if mailbox.drainDeadline() != nil { return }
                mailbox.waitForMessage()
                continue
            }
            guard let answer = try post(message.body, by: message.sender, &client) else { return }
            if answer.isSuccess {
                session.hasDelivered = true
                mailbox.removeNext()
                context.tell(.taken(token: message.token))
                rest(after: answer, by: message.sender)
            } else if answer.isRefusal || isRefusedByRepetition(message.token, answer) {
                mailbox.removeNext()
                context.tell(.refused(token: message.token, status: answer.status))
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
        // Some servers refuse an empty message.
        guard answer.isSuccess || answer.isRefusal else { throw .status(answer.status) }
        return answer
    }

    private func post(
        _ body: [UInt8], by sender: HTTPSender, _ client: inout HTTPClient
    ) throws(HTTPFailure) -> HTTPAnswer? {
        try client.post(body, by: sender, bell: mailbox.bell.descriptor) { mailbox.drainDeadline() }
    }

    /// Whether the message and not the address is wrong.
    private mutating func isRefusedByRepetition(_ token: Int64, _ answer: HTTPAnswer) -> Bool {
        guard answer.isAboutAddress else { return false }
        failures = (token, failures.token == token ? failures.count + 1 : 1)
        return failures.count >= Self.mostFailures
    }

    /// Passes an answer to the owner. After an answer with commands, the worker pauses.
    private func rest(after answer: HTTPAnswer, by sender: HTTPSender) {
        guard answer.isSuccess, !answer.body.isEmpty || answer.excess != nil, context.read(answer, sender) else {
            return
        }
        mailbox.pause(for: context.settings.limits.pause)
    }
}
