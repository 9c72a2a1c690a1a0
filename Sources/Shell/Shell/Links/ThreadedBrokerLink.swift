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
    private let log: Log?
    private var connection: BrokerConnection?
    /// nil: there are no transient topics.
    private var readings: BrokerConnection?
    /// Connections that were retired: the last ones, whose messages may be acknowledged yet.
    private var former: [BrokerConnection] = []
    private var ending: [EndingConnection] = []
    private var waker: WakerWatch?
    private var isOpen = false
    package private(set) var settings: BrokerSettings?
    package private(set) var isConnected = false

    /// - Parameter log: For failures of the second connection. Those of the first are events.
    package init(loop: EventLoop, log: Log? = nil) { (self.loop, self.log) = (loop, log) }

    package var droppedMessages: Int { (connection?.counts.dropped ?? 0) + (readings?.counts.dropped ?? 0) }

    package func open(
        _ settings: BrokerSettings, filters: Set<String>, read: MessageReading?, onEvents: @escaping () -> Void
    ) throws {
        let waker = try loop.waker(onEvents)
        let connection = try BrokerConnection(settings, read: read, wake: waker.waker.wake)
        if let last = self.connection { former = former.suffix(Self.mostFormer - 1) + [last] }
        (self.waker, self.connection, self.settings, isOpen) = (waker, connection, settings, true)
        isConnected = false
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
        for event in events {
            switch event {
            case .connected: isConnected = isOpen
            case .disconnected: isConnected = false
            default: break
            }
        }
        return late + events + (readings?.drainEvents().filter(isPassedOn) ?? [])
    }

    /// Whether an event of a former connection still counts. Its state is of no interest.
    private static func isOfMessage(_ event: BrokerEvent) -> Bool {
        switch event {
        case .acknowledged, .refused, .message, .decoded: true
        case .connected, .disconnected, .moved, .postponed, .untaken, .subscriptionRefused, .subscribed: false
        // Over HTTP only.
        case .steppedAside, .wantsMessage, .answered: false
        }
    }

    /// Whether an event of the second connection is passed on. The state of the link is that of the first.
    private func isPassedOn(_ event: BrokerEvent) -> Bool {
        switch event {
        case .message, .decoded, .untaken, .subscriptionRefused: return true
        case .disconnected(let failure, let retryIn):
            // Otherwise the first says the same.
            if isConnected {
                log?.once("readings", .warning, "no readings: \(failure); next try in \(decimal(retryIn)) s")
            }
            return false
        case .connected, .moved, .acknowledged, .postponed, .refused, .subscribed: return false
        // Over HTTP only.
        case .steppedAside, .wantsMessage, .answered: return false
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
        settings.cleanSession = true
        settings.will = nil
        return settings
    }
}
