package import Base
package import Messaging
package import PageServer
package import Shell
package import Storage
package import System

/// A machine whose time moves when the test says so.
package final class ServiceHostDouble: ServiceHost {
    private final class Timer: ServiceTimer {
        private unowned let host: ServiceHostDouble
        let handler: (MonotonicInstant) -> Void
        var due: MonotonicInstant?

        init(_ host: ServiceHostDouble, _ handler: @escaping (MonotonicInstant) -> Void) {
            self.host = host
            self.handler = handler
        }

        func arm(at instant: MonotonicInstant) { due = instant }
        func arm(after delay: Duration) { due = host.now.advanced(by: delay) }
        func disarm() { due = nil }
    }

    private struct WeakTimer { weak var timer: Timer? }

    package var now = MonotonicInstant(nanoseconds: 1_000_000_000_000)
    package var suspended = Duration.zero
    package var wallClock = WallClock(epochOffset: 1_700_000_000_000_000_000, isKnown: true)
    package var bootID = "boot-1"
    package var hardware: String? = "hardware-1"
    package private(set) var reports: [ServicePhase] = []
    package private(set) var exitCode: ExitCode?
    /// When memory was released.
    package private(set) var releases: [MonotonicInstant] = []
    private var timers: [WeakTimer] = []

    package init() {}

    package func timer(
        tolerance: Duration, isLast: Bool, _ handler: @escaping (MonotonicInstant) -> Void
    ) -> any ServiceTimer {
        let timer = Timer(self, handler)
        timers.append(WeakTimer(timer: timer))
        return timer
    }

    package func report(_ phase: ServicePhase) { reports.append(phase) }
    package func exit(_ code: ExitCode) { exitCode = code }
    package func releaseMemory() { releases.append(now) }

    /// When the next timer is due; nil: none is armed.
    package var nextDue: MonotonicInstant? { timers.compactMap(\.timer?.due).min() }

    /// The timers that exist.
    package var timerCount: Int { timers.count { $0.timer != nil } }

    /// Fires every timer that is due.
    package func fireDueTimers() {
        timers.removeAll { $0.timer == nil }
        while let timer = timers.compactMap(\.timer).filter({ ($0.due ?? .zero) <= now && $0.due != nil }).min(by: {
            ($0.due ?? .zero) < ($1.due ?? .zero)
        }) {
            timer.due = nil
            timer.handler(now)
        }
    }
}

/// The real store over a real SQLite file, without its thread: it works when the test lets it.
package final class SteppedStore: StoreLink {
    private let host: ServiceHostDouble
    private let vfs: String?
    private var worker: StoreWorker?
    private var mailbox: StoreMailbox?
    private var events: [StoreEvent] = []
    private var hasMail = false

    /// - Parameter vfs: SQLite's name of a file layer that fails on command.
    package init(host: ServiceHostDouble, vfs: String? = nil) {
        self.host = host
        self.vfs = vfs
    }

    package var counters: StoreCounters? { worker?.counters }
    package var isOpen: Bool { worker?.isFinished == false }

    package func open(_ settings: StoreSettings, onEvents: @escaping () -> Void) throws {
        var settings = settings
        settings.vfs = vfs
        worker = StoreWorker(settings)
        mailbox = StoreMailbox(settings)
        hasMail = true
    }

    package func submit(_ request: StoreRequest) {
        mailbox?.append(request)
        hasMail = true
    }

    package func drainEvents() -> [StoreEvent] {
        defer { events = [] }
        return events
    }

    package func close(within limit: Duration) -> Bool {
        submit(.stop)
        while isOpen {
            hasMail = true
            step()
        }
        return true
    }

    /// When the store has something to do although no mail comes.
    package var nextDeadline: MonotonicInstant? { isOpen ? worker?.nextDeadline : nil }

    /// Lets the store work once, if there is anything to do.
    ///
    /// - Returns: whether there are events.
    @discardableResult
    package func step() -> Bool {
        guard let worker, !worker.isFinished, hasMail || worker.nextDeadline <= host.now else { return !events.isEmpty }
        hasMail = false
        guard let mail = mailbox?.drain(withCommit: worker.takesCommits) else { return false }
        events += worker.step(mail, at: host.now)
        return !events.isEmpty
    }
}

/// A broker that answers when the test lets it.
package final class BrokerDouble: BrokerLink {
    package private(set) var settings: BrokerSettings?
    package private(set) var isConnected = false
    package var droppedMessages = 0
    package private(set) var filters: Set<String> = []
    /// Everything that was published, over all connections.
    package private(set) var messages: [Publication] = []
    private var tokens: [MessageToken] = []
    /// How often a connection was opened.
    package private(set) var connections = 0
    /// Whether connections are accepted as soon as they are opened, and messages acknowledged as soon as they come.
    package var isReachable = true
    /// Whether a connection can be opened, and the process has what it needs for it.
    package var canOpen = true
    /// Whether the broker returns what is published on a topic, because the service subscribes to it.
    package var returns: (String) -> Bool = { _ in false }
    /// Whether the broker has a rule against what is published on a topic.
    package var refuses: (String) -> Bool = { _ in false }
    private var events: [BrokerEvent] = []
    private var isOpen = false

    package init() {}

    package func open(
        _ settings: BrokerSettings, filters: Set<String>, read: MessageReading?, onEvents: @escaping () -> Void
    ) throws {
        (self.settings, self.filters, isOpen, isConnected) = (settings, filters, true, false)
        guard canOpen else { throw SystemError("pthread_create", code: 11) }
        connections += 1
        events = [isReachable ? .connected(sessionPresent: false) : .disconnected(.silent, retryIn: .seconds(1))]
    }

    package func subscribe(to filters: Set<String>) { self.filters = filters }

    package func publish(_ publication: Publication, as token: MessageToken) -> Bool {
        guard isOpen else { return false }
        messages.append(publication)
        tokens.append(token)
        let isRefused = refuses(publication.topic)
        // MQTT 5: not authorized.
        if isReachable { events.append(isRefused ? .refused(token, .byBroker(reasonCode: 135)) : .acknowledged(token)) }
        if isReachable, returns(publication.topic) {
            events.append(
                .message(
                    ReceivedMessage(
                        topic: publication.topic, payload: publication.payload, qos: .atLeastOnce, retained: false)))
        }
        return true
    }

    package func drainEvents() -> [BrokerEvent] {
        for event in events {
            if case .connected = event { isConnected = isOpen }
            if case .disconnected = event { isConnected = false }
        }
        defer { events = [] }
        return events
    }

    package func close(within limit: Duration) { (isOpen, isConnected) = (false, false) }

    package func retire(within limit: Duration) { close(within: limit) }

    package var hasEvents: Bool { !events.isEmpty }

    /// The connection ends, and cannot be made again until `restore`.
    package func lose() {
        isReachable = false
        events.append(.disconnected(.closed(code: nil), retryIn: .seconds(1)))
    }

    /// The broker accepts the connection again. What it had not acknowledged was sent again and is acknowledged now.
    package func restore() {
        isReachable = true
        events.append(.connected(sessionPresent: true))
        acknowledgeAll()
    }

    package func acknowledgeAll() { events += tokens.map { .acknowledged($0) } }

    package func send(_ event: BrokerEvent) { events.append(event) }
}

/// A status page without a server.
package final class StatusDouble: StatusLink {
    package private(set) var page: (any PageSource)?
    package private(set) var settings: StatusServerSettings?
    package private(set) var changes = 0
    package var pageProblem: (text: String, remedy: String)?

    package init() {}

    package func open(_ settings: StatusServerSettings, source: any PageSource) throws(Failure) {
        page = source
        // The socket for commands has no settings that a user makes.
        if case .port = settings.entrance { self.settings = settings }
    }
    package func changed() { changes += 1 }
    package func close() { page = nil }
}
