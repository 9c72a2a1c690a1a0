package import Base
package import Messaging
package import Runtime
import System

/// The broker link over a connection with a thread of its own, which wakes the event loop.
///
/// The topics of `BrokerSettings.transientFilters` have a second connection. A broker keeps a bounded queue for each client,
/// and drops what exceeds it, whatever it is: a flood of readings would take cards and commands with it.
package final class ThreadedBrokerLink: BrokerLink {
    private let loop: EventLoop
    private var connection: BrokerConnection?
    /// nil: there are no transient topics.
    private var readings: BrokerConnection?
    /// Connections that were retired: the last ones, whose messages may be acknowledged yet.
    private var former: [BrokerConnection] = []
    private var ending: [EndingConnection] = []
    private var watch = SecondConnectionWatch()
    private var filters: Set<String> = []
    private var waker: WakerWatch?
    private var isOpen = false
    package private(set) var settings: BrokerSettings?
    package private(set) var isConnected = false

    package init(loop: EventLoop) { self.loop = loop }

    package var droppedMessages: Int { (connection?.counts.dropped ?? 0) + (readings?.counts.dropped ?? 0) }

    package func open(
        _ settings: BrokerSettings, filters: Set<String>, read: MessageReading?, onEvents: @escaping () -> Void
    ) throws {
        let waker = try loop.waker(onEvents)
        let connection = try BrokerConnection(settings, read: read, wake: waker.waker.wake)
        if let last = self.connection { former = former.suffix(Self.mostFormer - 1) + [last] }
        (self.waker, self.connection, self.settings, isOpen) = (waker, connection, settings, true)
        (isConnected, watch) = (false, SecondConnectionWatch())
        readings = try settings.forTransientTopics.map {
            try BrokerConnection($0, read: read, wake: waker.waker.wake)
        }
        subscribe(to: filters)
        let former = ending
        ending = []
        try connection.start(after: former)
        try readings?.start(after: former)
    }

    /// Former connections whose events are taken.
    private static let mostFormer = 4

    package func subscribe(to filters: Set<String>) {
        self.filters = filters
        guard readings != nil else {
            connection?.subscribe(to: filters)
            return
        }
        let transient = settings?.transientFilters ?? []
        connection?.subscribe(to: filters.subtracting(transient))
        readings?.subscribe(to: filters.intersection(transient))
    }

    package func publish(_ publication: Publication, as token: MessageToken) -> Bool {
        isOpen && connection?.publish(publication, as: token) == true
    }

    package func drainEvents() -> [BrokerEvent] {
        // The present connection begins after the former ones. So if it is there, they have nothing more to say after this.
        let events = connection?.drainEvents() ?? []
        let late = former.flatMap { $0.drainEvents() }.filter(Self.isOfMessage)
        var reason: String?
        for event in events {
            switch event {
            case .connected: isConnected = isOpen
            case .disconnected: isConnected = false
            default: break
            }
            reason = reason ?? watch.handleFirst(event, at: Clocks.now())
        }
        let others = readings?.drainEvents() ?? []
        for event in others { reason = reason ?? watch.handleSecond(event, at: Clocks.now()) }
        return late + events + others.compactMap(passedOn) + (reason.flatMap(joinReadings) ?? [])
    }

    /// Whether an event of a former connection still counts. Its state is of no interest.
    private static func isOfMessage(_ event: BrokerEvent) -> Bool {
        switch event {
        case .acknowledged, .refused, .message, .decoded, .refusal: true
        case .connected, .disconnected, .moved, .postponed, .dropped, .subscriptionRefused, .subscribed, .admitted,
            .limited:
            false
        // Over HTTP only.
        case .steppedAside, .wantsMessage, .answered: false
        }
    }

    /// The broker admits one connection only: the transient topics are subscribed to on the first one.
    ///
    /// - Returns: What is told of it.
    private func joinReadings(because reason: String) -> [BrokerEvent]? {
        guard isOpen, let readings, let second = settings?.forTransientTopics else { return nil }
        ending.append(readings.end(within: .zero))
        self.readings = nil
        subscribe(to: filters)
        return [.refusal(Refused(.clientID, second.clientID, on: second.name, because: reason))]
    }

    /// An event of the second connection as the link's owner gets it; nil: not at all. The state of the link is that of the
    /// first connection, and what the second one is refused is in the record of refusals.
    private func passedOn(_ event: BrokerEvent) -> BrokerEvent? {
        guard let second = settings?.forTransientTopics else { return nil }
        switch event {
        case .message, .decoded, .dropped, .subscriptionRefused, .refusal, .admitted: return event
        case .disconnected(let failure, _): return .refusal(failure.refused(clientID: second.clientID, on: second.name))
        case .connected: return .admitted(Refused(.connection, second.clientID, on: second.name, because: ""))
        case .moved, .acknowledged, .postponed, .refused, .subscribed, .limited: return nil
        // Over HTTP only.
        case .steppedAside, .wantsMessage, .answered: return nil
        }
    }

    package func retire(within limit: Duration) {
        guard isOpen else { return }
        (isOpen, isConnected) = (false, false)
        // The second has nothing to send.
        ending += [connection?.end(within: limit), readings?.end(within: .zero)].compactMap(\.self)
    }

    package func close(within limit: Duration) {
        for connection in ending { connection.wait() }
        ending = []
        guard isOpen else { return }
        (isOpen, isConnected) = (false, false)
        // It has nothing to send.
        _ = readings?.stop(within: .zero)
        _ = connection?.stop(within: limit)
    }
}

extension BrokerSettings {
    /// A connection for the transient topics alone; nil if there are none.
    fileprivate var forTransientTopics: BrokerSettings? {
        guard !transientFilters.isEmpty else { return nil }
        var settings = self
        settings.clientID += "-readings"
        settings.name = Self.readings
        settings.cleanSession = true
        settings.will = nil
        return settings
    }
}
