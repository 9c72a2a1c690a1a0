package import Base
import HTTPMessaging
package import Messaging
import OwnTracks
package import Runtime
import Shell
import Synchronization
import System

/// The broker link over HTTP: publishing is posting, and commands come with the answers.
package final class HTTPLink: BrokerLink {
    private let loop: EventLoop
    private var connection: HTTPConnection<BrokerEvent>?
    /// The connection before this one, some of whose messages may be answered yet.
    private var former: HTTPConnection<BrokerEvent>?
    /// Waits for the end of a connection that was retired; nil: there is none.
    private var ending: (@Sendable () -> Void)?
    private var inbox: HTTPInbox?
    private var waker: WakerWatch?
    private var isOpen = false
    package private(set) var settings: BrokerSettings?
    package private(set) var isConnected = false
    package private(set) var droppedMessages = 0

    package init(loop: EventLoop) { self.loop = loop }

    package func open(
        _ settings: BrokerSettings, filters: Set<String>, read: MessageReading?, onEvents: @escaping () -> Void
    ) throws {
        guard let endpoint = settings.endpoint, let own = endpoint.senders.first else { return }
        let waker = try loop.waker(onEvents)
        let http = HTTPSettings(settings, endpoint)
        let inbox = HTTPInbox(endpoint, http, filters: filters, read: read)
        let connection = try HTTPConnection(
            http, sender: HTTPSender(own), wake: waker.waker.wake, translate: inbox.event, read: inbox.read)
        former = self.connection
        (self.waker, self.inbox, self.connection, self.settings, isOpen) = (waker, inbox, connection, settings, true)
        (isConnected, droppedMessages) = (false, 0)
        try connection.start(after: ending ?? {})
        ending = nil
    }

    package func subscribe(to filters: Set<String>) { inbox?.subscribe(to: filters) }

    package func publish(_ publication: Publication, as token: MessageToken) -> Bool {
        guard isOpen, let sender = settings?.endpoint?.sender(of: publication) else { return false }
        return connection?.post(
            HTTPPost(
                token: token.rawValue, name: publication.topic, body: publication.payload, sender: HTTPSender(sender)))
            == true
    }

    package func drainEvents() -> [BrokerEvent] {
        // The present connection begins after the former one. So if it is there, that one has nothing more to say after this.
        let events = connection?.drainEvents() ?? []
        let late = (former?.drainEvents() ?? []).filter { event in
            switch event {
            case .acknowledged, .refused, .decoded: true
            default: false
            }
        }
        for event in events {
            switch event {
            case .connected: isConnected = isOpen
            case .disconnected: isConnected = false
            case .dropped: droppedMessages += 1
            default: break
            }
        }
        return late + events
    }

    package func retire(within limit: Duration) {
        guard isOpen else { return }
        (isOpen, isConnected) = (false, false)
        ending = connection?.end(within: limit)
    }

    package func close(within limit: Duration) {
        ending?()
        ending = nil
        guard isOpen else { return }
        (isOpen, isConnected) = (false, false)
        connection?.stop(within: limit)
    }
}

/// Makes the results of the posting thread events of a broker, on that thread.
private final class HTTPInbox: Sendable {
    private struct State {
        var filters: Set<String>
        var hasConnected = false
        /// By topic, the latest delivered commands, and when they were delivered.
        var latest: [String: (commands: [Result<Command, CommandError>], at: MonotonicInstant)] = [:]
        /// When each remark was told.
        var remarks: [String: MonotonicInstant] = [:]
    }

    /// The Recorder sends the content of a file in every answer. The reply to a command is posted and answered too, so
    /// the same commands would arrive again at once, endlessly.
    private static let memory: Duration = .seconds(60)
    /// How long the same remark about answers is not told again.
    private static let silenceOfRemarks: Duration = .seconds(3600)
    private static let mostRemarks = 32

    private let endpoint: BrokerSettings.Posting
    private let settings: HTTPSettings
    private let reading: MessageReading?
    private let state: Mutex<State>

    init(
        _ endpoint: BrokerSettings.Posting, _ settings: HTTPSettings, filters: Set<String>,
        read: MessageReading?
    ) {
        self.endpoint = endpoint
        self.settings = settings
        reading = read
        state = Mutex(State(filters: filters))
    }

    func subscribe(to filters: Set<String>) { state.withLock { $0.filters = filters } }

    var event: @Sendable (HTTPEvent) -> BrokerEvent {
        { [self] event in
            switch event {
            case .reached:
                let isFirst = state.withLock { state in
                    defer { state.hasConnected = true }
                    return !state.hasConnected
                }
                // A server has no sessions, so none is lost.
                return .connected(sessionPresent: !isFirst)
            case .failed(let failure, let retryIn):
                let reason = BrokerFailure.endpoint(reason: "\(failure)", remedy: failure.remedy(settings))
                return .disconnected(reason, retryIn: retryIn)
            case .taken(let token): return .acknowledged(MessageToken(rawValue: token))
            case .refused(let token, let status):
                return .refused(MessageToken(rawValue: token), .byEndpoint(status: status))
            case .wantsMessage: return .wantsMessage
            case .steppedAside(let token, let name, let failure, _):
                return .steppedAside(MessageToken(rawValue: token), topic: name, reason: "\(failure)")
            case .givenUp(let token): return .refused(MessageToken(rawValue: token), .givenUp)
            }
        }
    }

    var read: HTTPAnswerReading<BrokerEvent> {
        { [self] answer, sender in
            guard let base = endpoint.senders.first(where: { HTTPSender($0) == sender })?.base else {
                return ([], false)
            }
            let topic = base + "/cmd"
            if let size = answer.excess { return ([.dropped(.tooLarge(topic: topic, size: size))], false) }
            guard
                let decoded = reading?(
                    ReceivedMessage(
                        topic: topic, payload: answer.body, qos: .atLeastOnce, retained: false, isAnswer: true)),
                let received = decoded.content as? ReceivedCommands
            else { return ([], false) }
            let now = Clocks.now()
            let remarks = received.remark.flatMap { isKnown($0, at: now) ? nil : BrokerEvent.answered($0) }
            guard !received.commands.isEmpty, state.withLock({ $0.filters.contains(topic) }),
                !isRepeat(received, at: now)
            else { return ([remarks].compactMap { $0 }, false) }
            state.withLock { $0.latest[topic] = (received.commands, now) }
            return ([remarks, .decoded(decoded)].compactMap { $0 }, true)
        }
    }

    /// Whether the same was told in the last hour. The Recorder sends the locations of friends with every answer.
    private func isKnown(_ remark: String, at now: MonotonicInstant) -> Bool {
        state.withLock { state in
            state.remarks = state.remarks.filter { $0.value.duration(to: now) < Self.silenceOfRemarks }
            guard state.remarks[remark] == nil else { return true }
            // Texts come from outside, and memory is finite.
            if state.remarks.count < Self.mostRemarks { state.remarks[remark] = now }
            return false
        }
    }

    private func isRepeat(_ received: ReceivedCommands, at now: MonotonicInstant) -> Bool {
        state.withLock { state in
            guard let (commands, at) = state.latest[received.topic] else { return false }
            return commands == received.commands && at.duration(to: now) < Self.memory
        }
    }
}

extension HTTPSender {
    package init(_ sender: BrokerSettings.Posting.Sender) { self.init(user: sender.user, device: sender.device) }
}

extension HTTPSettings {
    package init(_ settings: BrokerSettings, _ endpoint: BrokerSettings.Posting) {
        self.init(url: endpoint.url)
        username = settings.username
        password = settings.password
        caFile = settings.tls?.caFile
        clientCertificateFile = settings.tls?.clientCertificateFile
        clientKeyFile = settings.tls?.clientKeyFile
        userAgent = "ibeacon-gateway/\(Program.version)"
        limits.firstRetryDelay = settings.firstRetryDelay
    }
}
