import Base
import Synchronization
import System

/// Shared by the service's thread and the store's thread: a bounded mailbox of requests, and a list of events.
final class StoreChannel: Sendable {
    private struct Shared {
        var mailbox: StoreMailbox
        var events: [StoreEvent] = []
        var counters = StoreCounters()
    }

    private let settings: StoreSettings
    private let wake: @Sendable () -> Void
    private let shared: Mutex<Shared>
    /// Becomes readable when there is mail.
    private let mailSignal: Waker

    init(_ settings: StoreSettings, wake: @escaping @Sendable () -> Void) throws(SystemError) {
        self.settings = settings
        self.wake = wake
        shared = Mutex(Shared(mailbox: StoreMailbox(settings)))
        mailSignal = try Waker()
    }

    func submit(_ request: StoreRequest) {
        shared.withLock { $0.mailbox.append(request) }
        mailSignal.wake()
    }

    func drain() -> [StoreEvent] {
        shared.withLock { shared in
            defer { shared.events = [] }
            return shared.events
        }
    }

    var currentCounters: StoreCounters {
        shared.withLock { shared in
            var counters = shared.counters
            counters.pending += shared.mailbox.pending
            counters.pendingBytes += shared.mailbox.pendingBytes
            return counters
        }
    }

    /// The thread.
    func run() {
        let worker = StoreWorker(settings)
        while !worker.isFinished {
            let wait = settings.now().duration(to: worker.nextDeadline)
            if wait > .zero { mailSignal.wait(until: Clocks.now().advanced(by: wait)) }
            mailSignal.clear()
            let mail = shared.withLock { $0.mailbox.drain(withCommit: worker.takesCommits) }
            let events = worker.step(mail, at: settings.now())
            let isIdle = shared.withLock { shared in
                shared.events += events
                shared.counters = worker.counters
                return shared.mailbox.pending == 0
            }
            if !events.isEmpty { wake() }
            if isIdle { worker.tidy() }
        }
    }
}
