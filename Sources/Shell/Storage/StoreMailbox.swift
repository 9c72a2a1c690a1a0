import Base
import System

/// Requests that wait for the store's thread, and its events. The size of the requests is bounded, even if the disk does
/// not work; events are few, because the thread joins what it says.
package struct StoreMailbox: WorkerMail {
    private let countLimit: Int
    private let byteLimit: Int
    private let payloadLimit: Int
    private var mail = StoreMail()
    private var events: [StoreEvent] = []
    /// The counters of the thread after its latest step.
    var workerCounters = StoreCounters()

    init(countLimit: Int, byteLimit: Int, payloadLimit: Int) {
        self.countLimit = countLimit
        self.byteLimit = byteLimit
        self.payloadLimit = payloadLimit
    }

    /// A mailbox with the limits of these settings.
    package init(_ settings: StoreSettings) {
        self.init(
            countLimit: settings.memoryLimit, byteLimit: settings.memoryByteLimit, payloadLimit: settings.payloadLimit)
    }

    /// Whether a commit waits. It may have no messages and no history, so `pending` does not say it.
    var hasCommit: Bool { mail.commit != nil }
    var pending: Int { mail.commit?.count ?? 0 }
    var pendingBytes: Int { mail.commit?.payloadBytes ?? 0 }

    /// The counters of the thread and of what waits.
    var currentCounters: StoreCounters {
        var counters = workerCounters
        counters.pending += pending
        counters.pendingBytes += pendingBytes
        return counters
    }

    package mutating func post(_ events: [StoreEvent]) { self.events += events }

    package mutating func drainEvents() -> [StoreEvent] {
        defer { events = [] }
        return events
    }

    /// Adds a request. Beyond the limits the least important messages are dropped, and counted.
    ///
    /// - Returns: true: every request is accepted.
    @discardableResult
    package mutating func append(_ request: StoreRequest) -> Bool {
        switch request {
        case .commit(let changes): append(changes)
        case .checkpoint(let record):
            // A checkpoint must not overtake a commit whose decisions it contains: their messages would be missing
            // after a crash in between.
            if mail.commit == nil {
                mail.checkpoint = record
            } else {
                mail.commit?.add(checkpoint: record)
            }
        case .acknowledged(let id): mail.acknowledged.append(id)
        case .refused(let id, let reason): mail.refused.append((id, reason))
        case .readmit(let reasons): mail.readmitted.formUnion(reasons)
        case .window(let size): mail.window = max(0, size)
        case .redeliver(let generation): mail.redeliver = generation
        case .clockIsKnown(let reading): mail.clock = reading
        case .checkEdits: mail.checkEdits = true
        case .rereadEdits: mail.rereadEdits = true
        case .pruneHistory(let before): mail.pruneBefore = max(before, mail.pruneBefore ?? before)
        case .stop: mail.stop = true
        }
        return true
    }

    /// Everything that waits.
    ///
    /// - Parameter withCommit: false while the thread still has an unwritten commit.
    package mutating func drain(withCommit: Bool) -> StoreMail {
        var taken = mail
        mail = StoreMail()
        if !withCommit {
            mail.commit = taken.commit
            taken.commitsLeft = taken.commit?.commits ?? 0
            taken.commit = nil
        }
        return taken
    }

    private mutating func append(_ changes: [StoreChange]) {
        let changes = changes.filter { change in
            guard case .message(let message) = change, message.payload.count > payloadLimit else { return true }
            mail.oversized.append(message.payload.count)
            return false
        }
        guard !changes.isEmpty else { return }
        var commit = mail.commit ?? PendingCommit()
        mail.commit = nil
        commit.add(changes)
        if commit.presence != nil { mail.checkpoint = nil }
        if commit.count > countLimit || commit.payloadBytes > byteLimit {
            // A twentieth at a time, because shedding examines all waiting messages.
            mail.dropped = mail.dropped + commit.shed(toCount: countLimit / 20 * 19, bytes: byteLimit / 20 * 19)
        }
        mail.commit = commit
    }
}
