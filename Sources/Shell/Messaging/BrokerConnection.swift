package import Base
package import System

/// The connection to the broker, with its own thread, because name look-up and TLS may block for seconds and the radio
/// must not wait for them. The main thread uses it. The threads exchange values, and `wake` reports new events.
///
/// Messages of one topic arrive in the order in which they were published, across reconnections too.
package final class BrokerConnection: Sendable {
    private let settings: BrokerSettings
    private let read: MessageReading?
    private let worker: Worker<BrokerMail>

    /// - Parameters:
    ///   - read: called on the broker's thread with each message; it may take its time.
    ///   - wake: called on the broker's thread whenever events are waiting; it must not block.
    /// - Throws: when the process has no descriptors left.
    package init(
        _ settings: BrokerSettings, read: MessageReading? = nil, wake: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        self.settings = settings
        self.read = read
        worker = try Worker(BrokerMail(limits: settings.limits), wake: wake)
    }

    /// Begins to connect. Calling it again does nothing.
    ///
    /// - Parameter former: Connections that are ending. This one begins when they have ended: a broker would end one of two
    ///   connections of a client, and the former may have something to say yet.
    /// - Throws: when no thread can be created.
    package func start(after former: [EndingConnection] = []) throws(SystemError) {
        try worker.start(name: "broker") { [settings, read] mailbox in
            for connection in former { connection.wait() }
            var worker = BrokerWorker(settings: settings, mailbox: mailbox, read: read)
            worker.run()
        }
    }

    /// Removes and returns the events since the last call.
    package func drainEvents() -> [BrokerEvent] { worker.drainEvents() }

    /// Publishes as soon as there is a connection. Exactly one `acknowledged` or `refused` follows for
    /// `token`, unless the connection is stopped before.
    /// - Returns: false if the queue is full; the message was not accepted.
    package func publish(_ publication: Publication, as token: MessageToken) -> Bool {
        worker.submit(.publish(QueuedPublication(token: token, publication: publication)))
    }

    /// Replaces the set of topic filters. They are subscribed to on this connection and on each later one, with
    /// `BrokerSettings.subscriptionQoS`, and those of `transientFilters` with QoS 0. libmosquitto keeps a QoS 2 message in memory until the broker
    /// releases it.
    package func subscribe(to filters: Set<String>) { worker.submit(.subscribe(to: filters)) }

    package var counts: BrokerCounts { worker.read(\.counts) }

    /// Waits until pending messages are acknowledged, sends DISCONNECT (so that no will is published) and ends
    /// the thread. It blocks the caller for no longer than `limit`.
    /// - Returns: false if the thread is still blocked in a name look-up or a connect; it ends by itself afterwards,
    ///   and does nothing more.
    package func stop(within limit: Duration) -> Bool { worker.stop(within: limit) }

    /// Does the same without blocking the caller.
    package func end(within limit: Duration) -> EndingConnection {
        let end = worker.requestStop(within: limit)
        return EndingConnection { [worker] in _ = worker.join(until: end) }
    }
}
