import Base
import CMosquitto
import Glibc
import System

private let peerClosed = Int32(poll_peer_closed)

/// The loop of the broker's thread: connect, serve, wait, repeat. All calls of libmosquitto are made here, on
/// this one thread; `BrokerStateMachine` decides.
struct BrokerWorker: ~Copyable {
    private let settings: BrokerSettings
    private let mailbox: WorkerMailbox<BrokerMail>
    private let read: MessageReading?
    private var client: Client?
    private var machine: BrokerStateMachine
    private var generator = SystemRandomNumberGenerator()

    init(settings: BrokerSettings, mailbox: WorkerMailbox<BrokerMail>, read: MessageReading?) {
        self.settings = settings
        self.mailbox = mailbox
        self.read = read
        machine = BrokerStateMachine(settings)
    }

    /// Returns after a stop was requested and is done.
    mutating func run() {
        takeOrders()
        while true {
            switch machine.next(at: .now) {
            case .end: return
            case .wait(let end):
                mailbox.wait(until: end)
                takeOrders()
            case .connect(let attempt):
                do throws(BrokerFailure) {
                    try connect(attempt)
                    try serve()
                } catch {
                    report()
                    carryOut(machine.ended(error, at: .now, using: &generator))
                }
            }
        }
    }

    private mutating func takeOrders() {
        let (orders, stopBy) = mailbox.take { mail, stopBy in (mail.drainOrders(), stopBy) }
        carryOut(machine.ordered(orders.messages, subscriptions: orders.subscriptions, stopBy: stopBy, at: .now))
    }

    private mutating func carryOut(_ actions: [BrokerStateMachine.Action]) {
        var events: [BrokerEvent] = []
        var rest = actions[...]
        while let action = rest.popFirst() {
            switch action {
            case .tell(let event): events.append(event)
            case .subscribe(let filter):
                rest += machine.requested(filter, messageID: client?.subscribe(filter), at: .now)
            case .unsubscribe(let filter): client?.unsubscribe(filter)
            case .discardClient: client = nil
            }
        }
        mailbox.post(events)
    }

    private mutating func connect(_ attempt: ConnectionAttempt) throws(BrokerFailure) {
        let will = settings.will?.limited(by: attempt.willLimits).begun(at: Clocks.wallSeconds())
        if client == nil {
            var current = settings
            (current.protocolLevel, current.cleanSession, current.will) = (attempt.level, attempt.isClean, will)
            client = try Client(settings: current)
        } else if let will, will.timePlace != nil {
            try client?.set(will)
        }
        try probe(attempt.host)
        try client?.connect(to: attempt.host)
        // A name look-up may have taken long; there may be something new to know.
        takeOrders()
        machine.reached(at: .now)
    }

    /// Of several hosts, one whose machine is gone answers nothing at all, and libmosquitto's connect would wait for it
    /// for two minutes.
    private func probe(_ host: String) throws(BrokerFailure) {
        guard settings.hosts.count > 1 else { return }
        switch HostReach.probe(host, port: settings.port) {
        case .reached: return
        case .unknownName(let reason): throw .nameNotResolved(reason)
        case .unreachable(_, let reason): throw .unreachable(reason)
        }
    }

    /// Serves one connection. It returns when the connection was ended on request.
    private mutating func serve() throws(BrokerFailure) {
        // The first is due at once.
        var lastTick = MonotonicInstant.now.advanced(by: .seconds(-1))
        while let descriptor = client?.network {
            switch machine.farewell(at: .now) {
            case .disconnect: client?.disconnect()
            case .hangUp: client?.hangUp()
            case nil: break
            }
            if machine.isClosed { return }
            // DISCONNECT is written at once, as a rule; else the next rounds write it.
            guard client?.network != nil else { break }
            let nextTick = lastTick.advanced(by: machine.tickInterval)
            try poll(descriptor, until: machine.deadline(tick: nextTick))
            if .now >= nextTick {
                try client?.tick()
                lastTick = .now
                carryOut(machine.dueSubscriptions(at: .now))
            }
            report()
            takeOrders()
            try publish()
            try client?.flush()
            let isWriting = client?.wantsToWrite == true || client?.hasUnsent == true
            try machine.checkAnswers(isWriting: isWriting, at: .now)
        }
        guard machine.isStopping else { throw client?.closed ?? .closed(code: nil) }
    }

    /// Waits for the socket or the owner, and lets the library read and write.
    private mutating func poll(_ descriptor: Int32, until end: MonotonicInstant) throws(BrokerFailure) {
        let wanted = POLLIN | peerClosed | (client?.hasUnsent == true ? POLLOUT : 0)
        var watched = [
            pollfd(fd: descriptor, events: Int16(wanted), revents: 0),
            pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let ready = Glibc.poll(&watched, 2, MonotonicInstant.now.milliseconds(until: end))
        guard ready > 0 else { return }
        let happened = Int32(watched[0].revents)
        if happened & POLLOUT != 0 { try client?.flush() }
        if happened & (POLLIN | peerClosed | POLLHUP | POLLERR) != 0 {
            for cut in try client?.receive() ?? [] {
                let topic = String(decoding: cut.topic, as: UTF8.self)
                mailbox.post([.dropped(.tooLarge(topic: topic, size: cut.size))])
            }
            try client?.flush()
        }
    }

    /// Hands messages over until the window is full.
    private mutating func publish() throws(BrokerFailure) {
        while client?.network != nil, let message = machine.nextMessage(at: .now) {
            switch client?.publish(message.publication) {
            case .handedOver(let messageID):
                machine.handedOver(message, messageID: messageID, at: .now)
                // QoS 0 is answered within the call, if it could be written at once.
                if message.publication.qos == .atMostOnce { report() }
            case .refused(let why):
                carryOut(machine.refuse(message, why))
            case .failed, nil:
                machine.giveBack(message)
                throw .other("libmosquitto is out of memory")
            }
        }
    }

    /// Passes on what the callbacks recorded.
    private mutating func report() {
        guard let sink = client?.sink else { return }
        let now = MonotonicInstant.now
        var actions: [BrokerStateMachine.Action] = []
        if let connack = sink.connack, connack.code == 0 {
            actions += machine.accepted(sessionPresent: connack.sessionPresent, limits: connack.limits, at: now)
        }
        for completion in sink.completions {
            actions += machine.answered(messageID: completion.messageID, code: completion.code, at: now)
        }
        for suback in sink.subacks {
            let code = suback.granted.max().map { UInt8(clamping: $0) } ?? 0
            actions += machine.subscribed(messageID: suback.messageID, code: code, at: now)
        }
        let (messages, dropped) = (sink.messages, sink.droppedMessages)
        sink.forgetReported()
        // Without a wake-up: it is no event.
        if dropped > 0 { mailbox.withMail { $0.counts.dropped += dropped } }
        carryOut(actions)
        // After the answers, which need not wait until a large message has been read.
        guard let read else { return mailbox.post(messages.map(BrokerEvent.message)) }
        for message in messages { mailbox.post([read(message).map(BrokerEvent.decoded) ?? .message(message)]) }
    }
}
