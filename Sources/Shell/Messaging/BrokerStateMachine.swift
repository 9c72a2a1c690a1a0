import Base

/// What the connection to the broker does, and what comes next. A value without clock, thread and library: `BrokerWorker`
/// says what has happened, and carries out what is returned.
struct BrokerStateMachine {
    enum State {
        /// The name is looked up and TCP connects; libmosquitto's call blocks.
        case connecting
        /// TCP is connected, and the broker has to accept the connection.
        case greeting(answerBy: MonotonicInstant)
        case connected(Connection)
        /// DISCONNECT was handed over, and may not have left yet.
        case disconnecting(Connection)
        /// The attempt failed or the connection ended.
        case waiting(until: MonotonicInstant)
        /// A requested stop is complete.
        case closed
    }

    /// An accepted connection.
    struct Connection {
        let since: MonotonicInstant
        /// When the broker last answered a message, or the first of those in flight was handed over.
        var lastProgress: MonotonicInstant
        /// Whether the broker took a message of the outbox, which is not sent again.
        var hasDelivered = false
        var filters = FilterQueue()
        var refused = RefusedSubscriptions()
        let limits: BrokerLimits
    }

    /// What the worker is to do. Events and requests are in order.
    enum Action: Hashable {
        case tell(BrokerEvent)
        case subscribe(String)
        case unsubscribe(String)
        /// libmosquitto's handle and its messages are dropped; the next handle gets all messages again. With TLS it reads
        /// the authorities again, too: the old one trusts all that it has ever read.
        case discardClient
    }

    enum Step: Hashable {
        case connect(ConnectionAttempt)
        case wait(until: MonotonicInstant)
        case end
    }

    /// How to end a connection on request.
    enum Farewell: Hashable {
        /// With DISCONNECT, so that the will is not published.
        case disconnect
        /// Without: the last messages, such as "offline", may not have reached the broker. Then it publishes the will.
        case hangUp
    }

    /// For how long nothing is subscribed to once a message that is too large has proved to be retained.
    static let withholding: Duration = .seconds(600)
    /// For how long a connection must have lasted before a message in isolation is sent. Otherwise the message would not be
    /// the proven cause of the end.
    static let isolationDelay: Duration = .seconds(2)

    /// The codes with which a broker refuses a message for a reason that may pass: unspecified error, implementation
    /// specific error, packet identifier in use, quota exceeded (MQTT 5, sections 3.4.2.1 and 3.5.2.1). All others are about
    /// the message or the rights.
    static let passingCodes: Set<UInt8> = [0x80, 0x83, 0x91, 0x97]

    private(set) var state = State.waiting(until: .zero)
    private(set) var window: SendWindow
    let settings: BrokerSettings
    var subscriptions: Set<String> = []
    var fatal = FatalFilters()
    private var stopBy: MonotonicInstant?
    private var backoff: Backoff
    private var hosts: HostRotation
    private var levels: LevelChoice
    private var willLimits = BrokerLimits.none
    /// Whether this connection, or the next, makes the broker forget the session.
    private var startsClean = false
    /// Until when nothing is subscribed to; nil: it is.
    var withheldUntil: MonotonicInstant?
    /// Topics and filters that are remembered as refused, as many as the record of refusals has room for.
    static let mostRefusedObjects = 64
    /// Those that were refused and not admitted since.
    var refusedObjects: Set<Refused> = []

    init(_ settings: BrokerSettings) {
        self.settings = settings
        backoff = Backoff(from: settings.firstRetryDelay)
        window = SendWindow(limit: settings.limits.inFlight, firstPause: settings.firstRetryDelay)
        hosts = HostRotation(settings.hosts)
        levels = LevelChoice(preferred: settings.protocolLevel, fallback: settings.fallsBack ? .v3_1_1 : nil)
    }

    // MARK: Orders

    /// New orders of the owner.
    ///
    /// - Parameters:
    ///   - wanted: The topic filters from now on; nil: as before.
    ///   - stopBy: When a requested stop is to be complete; nil: none is requested.
    mutating func ordered(
        _ messages: [QueuedPublication], subscriptions wanted: Set<String>?, stopBy: MonotonicInstant?,
        at now: MonotonicInstant
    ) -> [Action] {
        window.add(messages)
        self.stopBy = stopBy
        let replaced = removeReplaced()
        guard let wanted else { return replaced }
        let (gone, new) = (subscriptions.subtracting(wanted), wanted.subtracting(subscriptions))
        subscriptions = wanted
        guard connection != nil else { return replaced }
        update { $0.filters.remove(gone) }
        return replaced + gone.map { .unsubscribe($0) } + request(new, at: now)
    }

    /// Messages that wait to be sent again and that a later one replaces are finished, as those that the outbox replaces itself.
    private mutating func removeReplaced() -> [Action] {
        window.removeReplaced().map { .tell(.acknowledged($0.token)) }
    }

    // MARK: From attempt to attempt

    /// What to do without a connection.
    mutating func next(at now: MonotonicInstant) -> Step {
        if stopBy != nil { state = .closed }
        switch state {
        case .closed: return .end
        case .waiting(let end) where now < end: return .wait(until: end)
        default:
            state = .connecting
            return .connect(
                ConnectionAttempt(
                    host: hosts.current, level: levels.level,
                    isClean: settings.cleanSession || startsClean, willLimits: willLimits))
        }
    }

    /// TCP is connected.
    mutating func reached(at now: MonotonicInstant) {
        state = .greeting(answerBy: now.advanced(by: settings.connectTimeout))
    }

    /// The attempt failed, or the connection ended.
    mutating func ended(
        _ failure: BrokerFailure, at now: MonotonicInstant, using generator: inout some RandomNumberGenerator
    ) -> [Action] {
        let (lasted, limits) = (connection.map { $0.since.duration(to: now) }, connection?.limits ?? .none)
        let (hasDelivered, cause) = (connection?.hasDelivered ?? false, levels.cause(of: failure))
        guard stopBy == nil else {
            state = .closed
            return []
        }
        let suspect = suspectFilter(of: failure, at: now)
        let isAmbiguous = failure.isByBroker && connection?.filters.isEmpty == false && window.mayChangeIdentifiers
        if lasted == nil { fatal.attemptFailed() }
        state = .waiting(until: now)
        // libmosquitto or the next handle sends again what was in flight, unless that message is the reason for the end.
        var actions = conclude(failure, wasAccepted: lasted != nil && suspect == nil, limits, at: now)
        // Sent again by libmosquitto, it would hide for another connection which of them is the reason.
        if suspect == nil, isAmbiguous, !actions.contains(.discardClient) { actions.append(discardClient()) }
        if let suspect {
            fatal.suspect(suspect, at: now)
            return actions + [.tell(.disconnected(failure, retryIn: .zero))]
        }
        if fallsBack(from: failure, wasAccepted: lasted != nil, &actions) { return actions }
        // A broker that takes messages and ends the connection at one that it does not allow is there: what may pass does not wait.
        if let lasted { backoff.connectionEnded(after: hasDelivered ? Backoff.lasting : lasted) }
        let delay = backoff.nextDelay(using: &generator)
        state = .waiting(until: now.advanced(by: delay))
        actions.append(.tell(.disconnected(cause, retryIn: delay)))
        // Together: a command that asked once must not take the first of several hosts for all.
        if let host = hosts.connectionEnded(after: lasted) { actions.append(.tell(.moved(toHost: host))) }
        return actions
    }

    private mutating func conclude(
        _ failure: BrokerFailure, wasAccepted: Bool, _ limits: BrokerLimits, at now: MonotonicInstant
    ) -> [Action] {
        if failure == .messageTooLarge || failure == .unaskedExactlyOnce {
            return discardSession(after: failure, at: now)
        }
        var actions: [Action] = []
        if startsClean, wasAccepted {
            // The session that began with it is kept from here on.
            startsClean = false
            actions.append(discardClient())
        }
        switch window.connectionEnded(byBroker: wasAccepted && failure.isByBroker) {
        case .goOn: if settings.tls != nil, window.mayChangeIdentifiers { actions.append(discardClient()) }
        case .discardClient: actions.append(.discardClient)
        case .refuse(let message, let why): actions += [.discardClient] + refuse(message, why)
        }
        // libmosquitto keeps the limits of a connection in its handle, and would apply them to the next one. A message of QoS 2
        // may arrive twice; otherwise those over the limit would be refused until the program ends.
        if limits != .none, !actions.contains(.discardClient) { actions.append(discardClient()) }
        return actions
    }

    /// Whether another version of MQTT is to be tried at once.
    private mutating func fallsBack(
        from failure: BrokerFailure, wasAccepted: Bool, _ actions: inout [Action]
    ) -> Bool {
        guard !wasAccepted else { return false }
        if lowersWill(after: failure) {
            actions.append(discardClient())
            return true
        }
        let verdict = levels.failed(failure)
        if verdict != .asBefore { actions.append(discardClient()) }
        return verdict == .atOnce
    }

    /// Whether the broker refuses the connection because of its will, which then gets a lower quality or is not retained.
    private mutating func lowersWill(after failure: BrokerFailure) -> Bool {
        guard let will = settings.will else { return false }
        switch failure {
        case .notAccepted(code: 0x9b) where will.qos > .atMostOnce && willLimits.highestQoS == nil:
            willLimits.highestQoS = .atMostOnce
        case .notAccepted(code: 0x9a) where will.retain && willLimits.retains: willLimits.retains = false
        default: return false
        }
        return true
    }

    /// The broker would deliver the message again for ever. It deletes what it holds for us when a session begins that
    /// is clean. A message that comes again even then is retained, and comes whenever it is subscribed to.
    private mutating func discardSession(after failure: BrokerFailure, at now: MonotonicInstant) -> [Action] {
        var event = DroppedMessage.sessionDiscarded(failure)
        if failure == .messageTooLarge, startsClean || settings.cleanSession {
            withheldUntil = now.advanced(by: Self.withholding)
            event = .subscriptionsWithheld(for: Self.withholding)
        }
        startsClean = true
        return [.tell(.dropped(event)), discardClient()]
    }

    private mutating func discardClient() -> Action {
        window.returnAll()
        return .discardClient
    }

    // MARK: One connection

    /// The connection that the broker has accepted; nil: there is none.
    var connection: Connection? {
        switch state {
        case .connected(let connection), .disconnecting(let connection): connection
        default: nil
        }
    }

    mutating func update(_ change: (inout Connection) -> Void) {
        switch state {
        case .connected(var connection):
            change(&connection)
            state = .connected(connection)
        case .disconnecting(var connection):
            change(&connection)
            state = .disconnecting(connection)
        default: break
        }
    }

    /// How to end the connection now; nil: it goes on. After the order to stop it waits for messages in flight, within
    /// limits.
    mutating func farewell(at now: MonotonicInstant) -> Farewell? {
        guard let stopBy else { return nil }
        switch state {
        case .connected(let connection) where now < stopBy:
            guard window.mayEnd else { return nil }
            state = .disconnecting(connection)
            return .disconnect
        case .disconnecting where now < stopBy: return nil
        default:
            let isIncomplete = connection != nil && !window.mayEnd
            state = .closed
            return isIncomplete ? .hangUp : .disconnect
        }
    }

    /// A requested stop is complete, and nothing is left to be written.
    var isClosed: Bool { if case .closed = state { true } else { false } }

    /// Whether a stop was requested, so that the end of the connection is no failure.
    var isStopping: Bool { stopBy != nil }

    /// How often the library looks after its keepalive, and we after answers that do not come.
    ///
    /// While nothing is on its way only a ping can become due, and each look wakes the processor. A sixth of the
    /// keepalive later is no harm: a broker waits for half of it more.
    var tickInterval: Duration {
        guard let connection, window.isEmpty, connection.filters.isEmpty else { return .seconds(1) }
        return max(.seconds(1), min(.seconds(10), settings.keepalive / 6))
    }

    /// When to look at the connection although nothing happens.
    ///
    /// - Parameter tick: When the library is looked after next.
    func deadline(tick: MonotonicInstant) -> MonotonicInstant {
        guard case .greeting(let answerBy) = state else { return min(tick, stopBy ?? tick) }
        return min(tick, answerBy, stopBy ?? tick)
    }

    /// - Parameter isWriting: Whether bytes wait to be sent. An unsent message cannot be answered; if it is never sent, the
    ///   keepalive detects it.
    /// - Throws: if the broker has not answered in time.
    func checkAnswers(isWriting: Bool, at now: MonotonicInstant) throws(BrokerFailure) {
        if case .greeting(let answerBy) = state, now >= answerBy { throw .silent }
        guard let connection, !isWriting, !window.inFlight.isEmpty,
            connection.lastProgress.duration(to: now) > settings.acknowledgeTimeout
        else { return }
        throw .unacknowledged
    }

    /// The broker accepts the connection.
    mutating func accepted(
        sessionPresent: Bool, limits: BrokerLimits = .none, at now: MonotonicInstant
    ) -> [Action] {
        // The record of libmosquitto's callback stays, and may be that of an earlier connection.
        guard case .greeting = state else { return [] }
        state = .connected(Connection(since: now, lastProgress: now, limits: limits))
        levels.accepted()
        let late = window.removeTransient().map { Action.tell(.refused($0.token, .late)) }
        // Subscribed also when the session was kept: the wanted topics may have changed since.
        let news: [Action] = limits == .none ? [] : [.tell(.limited(limits))]
        let ends = fatal.accepted().map { filter in
            [
                Action.tell(.subscriptionRefused(topicFilter: filter)),
                refused(.subscription, filter, because: "the broker ended the connection when it was asked for"),
            ]
        }
        return late + news + [.tell(.connected(sessionPresent: sessionPresent))] + (ends ?? [])
            + request(subscriptions, at: now)
    }

    /// The next message to hand over; nil: none is due.
    mutating func nextMessage(at now: MonotonicInstant) -> QueuedPublication? {
        guard case .connected(let connection) = state else { return nil }
        if !connection.filters.isEmpty, connection.since.duration(to: now) < FilterQueue.messagesWait { return nil }
        if window.isIsolating, connection.since.duration(to: now) < Self.isolationDelay { return nil }
        return window.next(at: now)
    }

    mutating func handedOver(_ message: QueuedPublication, messageID: Int32, at now: MonotonicInstant) {
        if window.inFlight.isEmpty { update { $0.lastProgress = now } }
        window.handedOver(message, messageID: messageID)
    }

    /// libmosquitto did not accept the message. It stays the next one.
    mutating func giveBack(_ message: QueuedPublication) { window.giveBack(message) }

    /// The broker answered a message.
    ///
    /// - Parameter code: 0, or a reason code of MQTT 5.
    mutating func answered(messageID: Int32, code: UInt8, at now: MonotonicInstant) -> [Action] {
        guard let message = window.answered(messageID: messageID) else { return [] }
        update { $0.lastProgress = now }
        let isStored = settings.hasOutbox && message.token.isStored
        guard code < 0x80 else {
            if isStored, Self.passingCodes.contains(code), let refusals = window.held.refused(message, at: now) {
                let news: [Action] = refusals == 1 ? [.tell(.postponed(message.token, reasonCode: code))] : []
                return news + note(message, .byBroker(reasonCode: code)) + removeReplaced()
            }
            return refuse(message, .byBroker(reasonCode: code))
        }
        // QoS 0 is not answered.
        let news = message.publication.qos == .atMostOnce ? [] : admitted(.message, message.publication.topic)
        guard isStored else { return news + [.tell(.acknowledged(message.token))] }
        update { $0.hasDelivered = true }
        return news + (window.held.taken(message, at: now) ? [] : [.tell(.acknowledged(message.token))])
    }

    /// A message is refused for good.
    mutating func refuse(_ message: QueuedPublication, _ why: Refusal) -> [Action] {
        [.tell(.refused(message.token, why))] + note(message, why)
    }
}
