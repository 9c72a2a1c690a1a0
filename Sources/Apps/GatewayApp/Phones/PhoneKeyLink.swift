import Base
package import Identities
package import Runtime
package import System

/// What is to be stored in the file of the keys of phones.
package struct PhoneKeyChange: Sendable {
    /// The keys of the state directory as the service knows them.
    let known: PhoneKeys
    /// Keys of commands and of the configuration.
    let waiting: [NamedKey]
    /// What the lists of other gateways have.
    let pending: PhoneKeys
    /// Keys of which the radio has learned the order of the octets.
    let learned: [PhoneKey]
    /// Whether keys without a time get one.
    let stamps: Bool
    /// Epoch seconds; nil: the wall clock is not known.
    let time: Int64?

    /// Changes the file. It may wait for the disk.
    package func store(in directory: String) -> PhoneKeyOutcome {
        var problems: [String] = []
        var wasChanged = false
        do throws(Failure) {
            let stored = try PhoneKeyFile.update(in: directory, waits: false) { keys in
                wasChanged = keys != known
                if let time { keys.distrustFuture(at: time) }
                for named in waiting where !keys.phones.has(PhoneKey(named.key)) {
                    do throws(PhoneKeysError) {
                        try keys.set(PhoneKey(named.key), of: named.name, at: time)
                    } catch {
                        problems.append("the key of '\(named.name)' was not stored: \(error)")
                    }
                }
                if stamps, let time { keys.stamp(at: time) }
                for phone in learned { keys.note(phone) }
                keys.merge(pending)
            }
            guard let stored else { return .busy }
            return .stored(
                stored, stamp: PhoneKeyFile.stamp(in: directory), wasChanged: wasChanged, problems: problems)
        } catch {
            return .failed(error)
        }
    }
}

/// How a change of the file ended.
package enum PhoneKeyOutcome: Sendable {
    /// The file has these keys. `wasChanged`: another program had changed it since the service read it.
    case stored(PhoneKeys, stamp: FileStamp?, wasChanged: Bool, problems: [String])
    /// Another program changes the file now.
    case busy
    case failed(Failure)
}

/// A service's link to the file of the keys of phones: the service does not wait for the disk.
package protocol PhoneKeyLink: AnyObject {
    /// Stores a change, and calls `done` on the caller's thread, at once if no thread can be started. The caller must not give another
    /// change before that.
    func store(_ change: PhoneKeyChange, in directory: String, _ done: @escaping (PhoneKeyOutcome) -> Void)
    /// Waits for the change that is being stored, for its `done`, and for changes that follow from it.
    ///
    /// - Returns: false if the disk takes longer than `limit`.
    func finish(within limit: Duration) -> Bool
}

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
