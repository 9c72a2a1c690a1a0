import Base
import System

/// The store for the service: a thread that owns the database, because the fsync of a memory card may take seconds and
/// the radio must not wait for it.
///
/// `submit` passes requests and never blocks. `drain` returns events after `wake` was called. The store's thread
/// decides nothing.
package final class Store: Sendable {
    private let worker: Worker<StoreMailbox>

    /// Starts the thread. The first event is `opened`, or `unavailable` as long as the state cannot be used.
    ///
    /// - Parameter wake: Called on the store's thread when there are events.
    /// - Throws: `StoreError.system` if no thread or descriptor is left.
    package init(_ settings: StoreSettings, wake: @escaping @Sendable () -> Void) throws(StoreError) {
        do throws(SystemError) {
            worker = try Worker(StoreMailbox(settings), wake: wake)
            try worker.start(name: "store") { Self.run(settings, $0) }
        } catch {
            throw .system(operation: "start a thread for", path: settings.path, errno: error.code)
        }
    }

    package func submit(_ request: StoreRequest) { worker.submit(request) }

    /// Removes and returns the events since the last call, in order.
    package func drain() -> [StoreEvent] { worker.drainEvents() }

    package var counters: StoreCounters { worker.read(\.currentCounters) }

    /// Writes all waiting data, and ends the thread. Without it, the thread does so when the store is released.
    ///
    /// - Parameter limit: How long to wait for a slow disk.
    /// - Returns: false if the thread has not ended by then. It ends later by itself.
    package func stop(within limit: Duration) -> Bool { worker.stop(within: limit) }

    /// The thread.
    private static func run(_ settings: StoreSettings, _ mailbox: WorkerMailbox<StoreMailbox>) {
        let worker = StoreWorker(settings)
        while !worker.isFinished {
            let wait = settings.now().duration(to: worker.nextDeadline)
            let takesCommits = worker.takesCommits
            // A commit that had to wait for a failed one was announced already, and no order wakes the thread for it.
            let hasCommit = takesCommits && mailbox.withMail(\.hasCommit)
            if wait > .zero, !hasCommit { mailbox.wait(until: Clocks.now().advanced(by: wait)) }
            let mail = mailbox.take { waiting, stopBy in
                var mail = waiting.drain(withCommit: takesCommits)
                if stopBy != nil { mail.stop = true }
                return mail
            }
            let events = worker.step(mail, at: settings.now())
            let counters = worker.counters
            let isIdle = mailbox.withMail { waiting in
                waiting.workerCounters = counters
                return !waiting.hasCommit
            }
            mailbox.post(events)
            if isIdle { worker.tidy() }
        }
    }
}
