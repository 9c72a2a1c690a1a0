package import Base
import Regions

/// The work of the store's thread, one step at a time, at a given time: opens the file, writes, tries again, delivers.
/// One thread uses it, and it does not depend on threads.
package final class StoreWorker {
    private let settings: StoreSettings
    private var lock: DirectoryLock?
    private var store: OpenStore?
    /// The counters of the store that was open last.
    private var lastKeys: StoreWork.FirstKeys?
    private var work = StoreWork()
    private var trouble: DiskTrouble?
    private var delivery = Delivery()
    private var edits = EditWatch()
    private var hasReportedOpened = false
    private var lastPresenceWrite: MonotonicInstant?
    private var stopping = false
    /// The file was damaged, or removed, while it was open.
    private var lostState = false
    private var failed = false
    private var events: [StoreEvent] = []

    package private(set) var counters = StoreCounters()
    /// Whether the store is closed, at the end.
    package private(set) var isFinished = false

    package init(_ settings: StoreSettings) {
        self.settings = settings
    }

    /// Whether the next mail may bring a commit.
    package var takesCommits: Bool { work.commit == nil }

    /// When `step` is needed although no mail comes.
    package var nextDeadline: MonotonicInstant {
        if let trouble { return trouble.nextTry }
        guard store != nil else { return .zero }
        var deadline = edits.nextCheck
        if work.isUrgent { deadline = .zero }
        if let since = work.acknowledgedSince {
            deadline = min(deadline, since.advanced(by: settings.acknowledgementDelay))
        }
        if work.checkpoint != nil { deadline = min(deadline, checkpointDue) }
        return deadline
    }

    private var checkpointDue: MonotonicInstant {
        lastPresenceWrite?.advanced(by: settings.checkpointInterval) ?? .zero
    }

    /// Does all work that is due.
    ///
    /// - Returns: The events for the service.
    package func step(_ mail: StoreMail, at now: MonotonicInstant) -> [StoreEvent] {
        failed = false
        accept(mail, at: now)
        if store == nil, trouble.map({ $0.nextTry <= now }) ?? true || stopping { open(at: now) }
        if trouble.map({ $0.nextTry <= now }) ?? true || stopping { rescueLog(at: now) }
        noticeRemoval(asked: mail.checkEdits, at: now)
        if store != nil {
            write(at: now)
            if trouble.map({ $0.nextTry <= now || !$0.isReading }) ?? true, !stopping {
                lookForEdits(asked: mail.checkEdits, at: now)
                deliver(at: now)
            }
            // There is nothing to write, and reading works. No better test is possible.
            if let trouble, !failed, work.isEmpty, trouble.nextTry <= now { recover(at: now) }
        }
        // When the commit is written that the others in the mailbox waited for, the next step writes those.
        if stopping, work.commit != nil || mail.commitsLeft == 0 { finish(commitsLeft: mail.commitsLeft) }
        count()
        defer { events = [] }
        return events
    }

    /// Work for idle times, so that no commit has to do it.
    func tidy() {
        if let store, trouble == nil, store.wantsCheckpoint { store.checkpoint() }
    }

    private func count() {
        counters.handedOut = delivery.handedOut.count
        counters.pending = work.commit?.count ?? 0
        counters.pendingBytes = work.commit?.payloadBytes ?? 0
        guard let outbox = store?.counters else { return }
        counters.outboxRows = outbox.rows
        counters.outboxBytes = outbox.bytes
        counters.unstampedRows = outbox.unstamped
    }

    private func accept(_ mail: StoreMail, at now: MonotonicInstant) {
        if let checkpoint = mail.checkpoint { work.checkpoint = checkpoint }
        if var commit = mail.commit {
            // Presence in a commit is newer than a checkpoint that came before it.
            if let checkpoint = work.checkpoint { commit.precede(by: checkpoint) }
            work.checkpoint = nil
            work.commit = commit
        }
        for id in mail.acknowledged {
            guard let bytes = delivery.removeHandedOut(id) else { continue }
            work.acknowledged[id] = bytes
            work.acknowledgedSince = work.acknowledgedSince ?? now
        }
        for (id, reason) in mail.refused {
            _ = delivery.removeHandedOut(id)
            work.refused.append((id, reason))
        }
        work.readmitted.formUnion(mail.readmitted)
        work.clock = mail.clock ?? work.clock
        work.pruneBefore = mail.pruneBefore ?? work.pruneBefore
        if let window = mail.window { delivery.window = window }
        if let generation = mail.redeliver { delivery.startOver(as: generation) }
        if mail.rereadEdits { edits.areWantedAgain = true }
        if mail.dropped.total > 0 {
            counters.dropped = counters.dropped + mail.dropped
            let reason = trouble == nil ? "there was more to write at once than memory holds" : "the disk takes nothing"
            notify(.error, "\(reason); dropped from memory: \(mail.dropped)")
        }
        for bytes in mail.oversized {
            events.append(.failed(.tooLarge(bytes: bytes), willRetry: false))
        }
        if mail.stop { stopping = true }
    }

    // MARK: Opening

    private func open(at now: MonotonicInstant) {
        var notices: [Notice] = []
        do throws(StoreError) {
            if lock == nil { lock = try DirectoryLock(settings.directory) }
            let opened = try openStore(&notices)
            store = opened
            lastKeys = opened.nextKeys
            edits.nextCheck = now
            delivery.lookAgain()
            if hasReportedOpened {
                lostState = lostState || !notices.isEmpty
                // The data version of another connection or file cannot be compared.
                edits.dataVersion = nil
                if lostState { edits.lastSeen = 0 }
            } else {
                try reportOpened(opened.database)
            }
            if lostState { events.append(.stateLost) }
            lostState = false
            // Pending work is written at once, which shows whether the failure is over.
            trouble?.nextTry = now
        } catch {
            store = nil
            openForReading(after: error)
            fail(error, at: now)
        }
        events += notices.map { .notice($0) }
    }

    private func openStore(_ notices: inout [Notice]) throws(StoreError) -> OpenStore {
        let database = try StoreFile.open(
            settings, takesUnreadableAsDamage: trouble?.isUnreadable == true, notices: &notices)
        do throws(DatabaseError) {
            return try OpenStore(database, settings, keysFrom: lastKeys)
        } catch {
            throw .database(error)
        }
    }

    private func reportOpened(_ database: borrowing Database) throws(StoreError) {
        do throws(DatabaseError) {
            let snapshot = try StateQueries.snapshot(database)
            edits.lastSeen = snapshot.edits.last?.id ?? 0
            edits.dataVersion = try database.dataVersion()
            events.append(.opened(snapshot))
            hasReportedOpened = true
        } catch {
            throw .database(error)
        }
    }

    /// A file that cannot be written can often be read: presence is restored from it, and new data waits in memory.
    private func openForReading(after error: StoreError) {
        guard !hasReportedOpened else { return }
        switch error {
        case .inUse, .newerSchema: return
        case .database, .system, .absent, .untrusted: break
        }
        do throws(StoreError) {
            let reader = try StoreReader(directory: settings.directory, vfs: settings.vfs)
            guard try reader.isSound() else { return }
            try reportOpened(reader.database)
        } catch .absent {
            events.append(.opened(StoreSnapshot(isNew: true)))
            hasReportedOpened = true
        } catch {
            // The event `unavailable` reports it.
        }
    }

    /// Writes the state anew if its log was removed. Nothing is lost: this connection still has what was written.
    private func rescueLog(at now: MonotonicInstant) {
        guard let store, store.log.isLost, !store.database.hasMoved else { return }
        do throws(StoreError) {
            let damage = try LostLog.rescue(store.database, settings, after: edits.lastSeen, of: store.log)
            let loss =
                damage.map { "changes that commands have made since cannot be read (\($0)) and are lost" }
                ?? "nothing is lost"
            notify(
                damage == nil ? .warning : .error,
                "\(settings.path)-wal or -shm was removed while the state was open; the state was written anew, and \(loss); "
                    + "leave these files alone while the service runs")
            self.store = nil
            open(at: now)
        } catch {
            fail(error, at: now)
        }
    }

    /// Looks whether the file itself was removed or replaced, with each look for edits: nothing may have to be written for a minute,
    /// and what the command line writes into a new file would have no effect.
    private func noticeRemoval(asked: Bool, at now: MonotonicInstant) {
        guard trouble == nil, !stopping, let store, asked || edits.nextCheck <= now, store.database.hasMoved else {
            return
        }
        writeFailed(.moved, at: now)
    }

    // MARK: Writing

    private func write(at now: MonotonicInstant) {
        guard let store, isWriteDue(at: now) else { return }
        let started = settings.now()
        let keys = store.nextKeys
        do throws(DatabaseError) {
            guard !store.database.hasMoved else { throw .moved }
            let outcome = try store.write(work, handedOut: delivery.handedOut, at: now)
            lastKeys = store.nextKeys
            finishWrite(outcome, at: now)
            counters.transactions += 1
            counters.longestTransaction = max(counters.longestTransaction, started.duration(to: settings.now()))
            recover(at: now)
        } catch {
            counters.failedTransactions += 1
            writeFailed(error, at: now)
            if work.commit != nil, work.firstTry == nil { work.firstTry = keys }
        }
        counters.pagesWritten += UInt64(store.drainPagesWritten())
    }

    private func isWriteDue(at now: MonotonicInstant) -> Bool {
        guard !work.isEmpty else { return false }
        if stopping { return true }
        if let trouble { return trouble.nextTry <= now }
        if work.isUrgent { return true }
        if let since = work.acknowledgedSince, since.advanced(by: settings.acknowledgementDelay) <= now { return true }
        return work.checkpoint != nil && checkpointDue <= now
    }

    private func finishWrite(_ outcome: OpenStore.Outcome, at now: MonotonicInstant) {
        let done = work
        work = StoreWork()
        counters.commits += UInt64(done.commit?.commits ?? 0)
        if done.checkpoint != nil || done.commit?.presence != nil { lastPresenceWrite = now }
        if let keys = done.commit?.values.keys, !keys.isEmpty {
            events.append(.kept(keys: Set(keys.map(\.text))))
        }
        if outcome.unblocked { delivery.lookAgain() }
        if done.firstTry == nil, trouble == nil, !stopping, delivery.handOut(outcome.fresh) {
            events.append(.deliver(outcome.fresh, generation: delivery.generation))
        }
        counters.superseded += outcome.superseded
        counters.refusedRows += outcome.refused
        counters.refusedRows -= min(counters.refusedRows, UInt64(outcome.readmitted + outcome.replaced))
        if outcome.readmitted > 0 {
            let text = "messages that a limit of the broker had set aside and that are sent again"
            notify(.notice, "\(text): \(outcome.readmitted)")
        }
        counters.dropped = counters.dropped + outcome.dropped
        if outcome.dropped.total > 0 {
            let text = "no more room; dropped from the disk: \(outcome.dropped) (\(counters.dropped) so far)"
            notify(outcome.dropped.transitions > 0 ? .error : .warning, text)
        }
    }

    private func writeFailed(_ error: DatabaseError, at now: MonotonicInstant) {
        let willRetry = error.isPassing || error.isDamage
        // The event `troubled` reports later attempts.
        if work.commit != nil, work.firstTry == nil || !willRetry {
            events.append(.failed(error, willRetry: willRetry))
        }
        if error.isDamage || error.isMoved {
            // Opening inspects the file, and sets it aside if it is damaged.
            store = nil
            lostState = error.isMoved
        } else if !error.isPassing {
            // An error in this program. Another attempt would fail again.
            notify(.error, "this could not be written and is dropped: \(error)")
            work.commit = nil
            work.firstTry = nil
        } else if error.isDiskFull, let store {
            // The content of the log may still fit into the file. Then the log is written from its beginning again.
            try? store.database.run("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        fail(.database(error), at: now)
    }

    // MARK: Failures

    private func fail(_ error: StoreError, isReading: Bool = false, at now: MonotonicInstant) {
        failed = true
        var next = trouble ?? DiskTrouble(since: now, delays: settings.retryDelays)
        let isNews = next.reported != error
        next.reported = error
        next.isReading = isReading
        next.unreadableTries = error.isUnreadable ? next.unreadableTries + 1 : 0
        next.nextTry = now.advanced(by: next.backoff.nextDelay())
        // After a disk was removed and inserted again, new descriptors are needed. But while the disk is full, a connection whose log was
        // removed has the only copy of what is in it.
        let isOnlyCopy = error.isDiskFull && store?.log.isLost == true
        if next.backoff.failures.isMultiple(of: 4), !isOnlyCopy { store = nil }
        trouble = next
        guard isNews else { return }
        let failure = StoreFailure(error: error, since: next.since, nextTry: next.nextTry)
        events.append(hasReportedOpened ? .troubled(failure) : .unavailable(failure))
    }

    private func recover(at now: MonotonicInstant) {
        guard let trouble else { return }
        self.trouble = nil
        events.append(.recovered(after: trouble.since.duration(to: now)))
    }

    // MARK: Reading

    private func lookForEdits(asked: Bool, at now: MonotonicInstant) {
        let again = edits.areWantedAgain && work.commit == nil
        guard let store, asked || again || edits.nextCheck <= now else { return }
        edits.nextCheck = now.advanced(by: settings.editInterval)
        do throws(DatabaseError) {
            let version = try store.database.dataVersion()
            guard version != edits.dataVersion || asked || again else { return }
            edits.dataVersion = version
            if again { (edits.areWantedAgain, edits.lastSeen) = (false, 0) }
            let new = try StateQueries.edits(store.database, after: edits.lastSeen)
            guard let last = new.last else { return }
            edits.lastSeen = last.id
            events.append(.regionEdits(new))
        } catch {
            readFailed(error, at: now)
        }
    }

    private func deliver(at now: MonotonicInstant) {
        guard let store else { return }
        do throws(DatabaseError) {
            let refused = Set(work.refused.map(\.id))
            let rows = try delivery.next(
                from: store.database, before: work.firstTry?.outbox ?? store.nextKeys.outbox
            ) { work.acknowledged[$0] != nil || refused.contains($0) }
            if !rows.isEmpty { events.append(.deliver(rows, generation: delivery.generation)) }
        } catch {
            readFailed(error, at: now)
        }
    }

    private func readFailed(_ error: DatabaseError, at now: MonotonicInstant) {
        if error.isDamage { store = nil }
        fail(.database(error), isReading: true, at: now)
    }

    // MARK: The end

    private func finish(commitsLeft: Int) {
        let unsaved = (work.commit?.commits ?? 0) + commitsLeft
        // Closing copies the log into the file.
        store = nil
        lock = nil
        events.append(.stopped(unsaved: unsaved))
        isFinished = true
    }

    private func notify(_ priority: LogPriority, _ text: String) {
        events.append(.notice(Notice(priority, text)))
    }
}
