import Base
import Synchronization
import System

/// The connection to the broker, with its own thread, because name look-up and TLS may block for seconds and the radio
/// must not wait for them. The main thread uses it. The threads exchange values, and `wake` reports new events.
///
/// Messages of one topic arrive in the order in which they were published, across reconnections too.
package final class BrokerConnection: Sendable {
    private let mailbox: Mailbox
    private let settings: BrokerSettings
    private let read: CommandReading?
    private let thread = Mutex<WorkerThread?>(nil)

    /// - Parameters:
    ///   - read: called on the broker's thread with each message; it may take its time.
    ///   - wake: called on the broker's thread whenever events are waiting; it must not block.
    /// - Throws: when the process has no descriptors left.
    package init(
        _ settings: BrokerSettings, read: CommandReading? = nil, wake: @escaping @Sendable () -> Void
    ) throws(BrokerFailure) {
        self.settings = settings
        self.read = read
        do throws(SystemError) {
            mailbox = try Mailbox(limits: settings.limits, wake: wake)
        } catch {
            throw .other("\(error)")
        }
    }

    /// Begins to connect. Calling it again does nothing.
    /// - Throws: when no thread can be created.
    package func start() throws(BrokerFailure) {
        do throws(SystemError) {
            try thread.withLock { thread throws(SystemError) in
                guard thread == nil else { return }
                thread = try WorkerThread(name: "broker") { [settings, mailbox, read] in
                    var worker = BrokerWorker(settings: settings, mailbox: mailbox, read: read)
                    worker.run()
                }
            }
        } catch {
            throw .other("\(error)")
        }
    }

    /// Removes and returns the events since the last call.
    package func drainEvents() -> [BrokerEvent] { mailbox.drainEvents() }

    /// Publishes as soon as there is a connection. Exactly one `acknowledged` or `refused` follows for its
    /// token, unless the connection is stopped before.
    /// - Returns: false if the queue is full; the message was not accepted.
    package func publish(_ message: OutgoingMessage) -> Bool { mailbox.add(message) }

    /// Replaces the set of topic filters. They are subscribed to on this connection and on each later one, always with
    /// QoS 1: libmosquitto keeps a QoS 2 message in memory until the broker releases it.
    package func subscribe(to filters: Set<String>) { mailbox.order { $0.subscriptions = filters } }

    package var counts: BrokerCounts { mailbox.counts }

    /// Waits until pending messages are acknowledged, sends DISCONNECT (so that no will is published) and ends
    /// the thread. It blocks the caller for no longer than `limit`.
    /// - Returns: false if the thread is still blocked in a name look-up or a connect; it ends by itself afterwards,
    ///   and does nothing more.
    package func stop(within limit: Duration) -> Bool {
        let end = MonotonicInstant.now.advanced(by: limit)
        guard let running = thread.withLock({ $0 }) else { return true }
        // The remaining time is for DISCONNECT.
        mailbox.order { $0.stopBy = .now.advanced(by: limit * 0.75) }
        defer { thread.withLock { $0 = nil } }
        return running.join(until: end)
    }

    deinit {
        // The thread owns the mailbox but not this object, and would continue without an owner.
        guard thread.withLock({ $0 != nil }) else { return }
        mailbox.order { $0.stopBy = .now }
    }
}
