package import Base
package import Messaging
package import Runtime
import System

/// The broker link over a connection with a thread of its own, which wakes the event loop.
package final class ThreadedBrokerLink: BrokerLink {
    private let loop: EventLoop
    private var connection: BrokerConnection?
    private var waker: WakerWatch?
    private var isOpen = false
    package private(set) var settings: BrokerSettings?
    package private(set) var isConnected = false

    package init(loop: EventLoop) { self.loop = loop }

    package var droppedMessages: Int { connection?.counts.dropped ?? 0 }

    package func open(
        _ settings: BrokerSettings, filters: Set<String>, read: MessageReading?, onEvents: @escaping () -> Void
    ) throws {
        let waker = try loop.waker(onEvents)
        let connection = try BrokerConnection(settings, read: read, wake: waker.waker.wake)
        (self.waker, self.connection, self.settings, isOpen) = (waker, connection, settings, true)
        isConnected = false
        connection.subscribe(to: filters)
        try connection.start()
    }

    package func subscribe(to filters: Set<String>) { connection?.subscribe(to: filters) }

    package func publish(_ publication: Publication, as token: MessageToken) -> Bool {
        isOpen && connection?.publish(publication, as: token) == true
    }

    package func drainEvents() -> [BrokerEvent] {
        let events = connection?.drainEvents() ?? []
        for event in events {
            switch event {
            case .connected: isConnected = isOpen
            case .disconnected: isConnected = false
            default: break
            }
        }
        return events
    }

    package func close(within limit: Duration) {
        guard isOpen else { return }
        (isOpen, isConnected) = (false, false)
        _ = connection?.stop(within: limit)
    }
}
