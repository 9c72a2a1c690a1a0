import HTTPMessaging
import Synchronization
import TestSupport

/// Owns a connection and remembers what it told.
final class HTTPOwner {
    private final class Told: Sendable {
        let events = Mutex<[HTTPEvent]>([])
        let answers = Mutex<[(answer: HTTPAnswer, sender: HTTPSender)]>([])
    }

    static let hall = HTTPSender(user: "jane", device: "hall")

    let connection: HTTPConnection<HTTPEvent>
    private let told = Told()

    /// - Parameter holdsCommands: Whether an answer holds commands.
    init(
        _ settings: HTTPSettings, holdsCommands: @escaping @Sendable (HTTPAnswer) -> Bool = { _ in false }
    ) throws {
        let told = told
        connection = try HTTPConnection(
            settings, sender: Self.hall, wake: {}, translate: { $0 },
            read: { answer, sender in
                told.answers.withLock { $0.append((answer, sender)) }
                // The event for the owner, only so that there is one.
                return holdsCommands(answer) ? ([.reached], true) : ([], false)
            })
        try connection.start()
    }

    deinit { connection.stop(within: .seconds(5)) }

    var events: [HTTPEvent] {
        told.events.withLock {
            $0 += connection.drainEvents()
            return $0
        }
    }
    var answers: [(answer: HTTPAnswer, sender: HTTPSender)] { told.answers.withLock { $0 } }

    var taken: [Int64] {
        events.compactMap { event in
            guard case .taken(let token) = event else { return nil }
            return token
        }
    }

    var refused: [Int64] {
        events.compactMap { event in
            guard case .refused(let token, _) = event else { return nil }
            return token
        }
    }

    /// The messages that stepped aside.
    var aside: [Int64] {
        events.compactMap { event in
            guard case .steppedAside(let token, _, _, _) = event else { return nil }
            return token
        }
    }

    var failures: [HTTPFailure] {
        events.compactMap { event in
            guard case .failed(let failure, _) = event else { return nil }
            return failure
        }
    }

    func post(_ token: Int64, _ body: String? = nil, by sender: HTTPSender = HTTPOwner.hall) -> Bool {
        connection.post(HTTPPost(token: token, body: Array((body ?? "{\"n\":\(token)}").utf8), sender: sender))
    }
}

extension HTTPSettings {
    /// For a server of a test: failures are not waited for long.
    init(for endpoint: ScriptedEndpoint) { self.init(quick: endpoint.url) }

    init(quick url: String) {
        self.init(url: url)
        limits.firstRetryDelay = .milliseconds(10)
    }
}

/// Counts from several threads.
final class Count: Sendable {
    private let value = Mutex(0)

    /// - Returns: the count with this one.
    func next() -> Int {
        value.withLock { value in
            value += 1
            return value
        }
    }
}
