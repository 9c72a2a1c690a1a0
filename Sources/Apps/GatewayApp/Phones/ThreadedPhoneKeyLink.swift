import Base
package import Gateway
package import Runtime
import System

/// The link over a thread of its own, which wakes the event loop. The thread exists from the first change on.
package final class ThreadedPhoneKeyLink: PhoneKeyLink {
    private typealias Mail = BoundedMail<(change: PhoneKeyChange, directory: String), PhoneKeyOutcome>

    private let loop: EventLoop
    private var thread: (worker: Worker<Mail>, waker: WakerWatch)?
    /// The end of the change that is being stored; nil: none is.
    private var done: ((PhoneKeyOutcome) -> Void)?

    package init(loop: EventLoop) { self.loop = loop }

    package func store(
        _ change: PhoneKeyChange, in directory: String, _ done: @escaping (PhoneKeyOutcome) -> Void
    ) {
        do throws(SystemError) {
            let worker = try startedWorker()
            self.done = done
            worker.submit((change, directory))
        } catch {
            done(.failed(Failure(.temporaryFailure, "\(error)")))
        }
    }

    package func finish(within limit: Duration) -> Bool {
        let end = Clocks.now().advanced(by: limit)
        while done != nil, let waker = thread?.waker.waker {
            guard waker.wait(until: end) else { return false }
            waker.clear()
            handleOutcomes()
        }
        return true
    }

    private func startedWorker() throws(SystemError) -> Worker<Mail> {
        if let thread { return thread.worker }
        let waker = try loop.waker { [unowned self] in handleOutcomes() }
        let worker = try Worker(Mail(limit: 1), wake: waker.waker.wake)
        try worker.start(name: "phones") { mailbox in
            while true {
                let (order, stopBy) = mailbox.take { mail, stopBy in (mail.first, stopBy) }
                if let order {
                    let outcome = order.change.store(in: order.directory)
                    mailbox.withMail { $0.removeFirst() }
                    mailbox.post([outcome])
                } else if stopBy != nil {
                    return
                } else {
                    mailbox.wait(until: nil)
                }
            }
        }
        thread = (worker, waker)
        return worker
    }

    private func handleOutcomes() {
        for outcome in thread?.worker.drainEvents() ?? [] {
            let done = done
            self.done = nil
            done?(outcome)
        }
    }
}
