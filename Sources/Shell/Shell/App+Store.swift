import Base
import Configuration
import Runtime
import Storage
import System

/// Lists from this length on leave so much memory behind that it is worth returning: about half a megabyte.
private let longList = 1000

extension StoreChange {
    /// Whether it is a long list.
    var isLarge: Bool {
        if case .regions(_, let regions) = self { regions.count >= longList } else { false }
    }
}

/// The store: its events, and periodic work for it.
extension App {
    package func handleStoreEvents() {
        for event in links.store.drainEvents() {
            watch.record(event)
            if let code = event.write(to: log) { host.exit(code) }
            let now = host.now
            switch event {
            case .opened(let snapshot): begin(with: snapshot, at: now)
            case .kept(let keys): owner?.kept(keys)
            // The others were meant for an earlier connection, and come again.
            case .deliver(let rows, generation: delivery.generation): deliver(rows)
            case .regionEdits(let edits): owner?.merge(edits, at: now)
            case .failed(_, willRetry: false): handle(.writeLost, at: now)
            case .stateLost: handle(.stateLost, at: now)
            case .notice, .unavailable, .troubled, .recovered, .failed, .stopped, .deliver: break
            }
        }
    }

    /// The store is open: the core restores the stored state, and the other links are opened.
    private func begin(with snapshot: StoreSnapshot, at now: MonotonicInstant) {
        guard let owner else { return }
        owner.restore(snapshot, at: now)
        owner.merge(snapshot.edits, at: now)
        readClock()
        timers.pruning = HistoryPruning(snapshot.values[HistoryPruning.storeKey])
        beginCheckpoints()
        connect()
        let status = owner.begin(with: snapshot, at: now)
        armDeadline()
        releaseMemoryLater()
        host.report(.ready(status: status))
    }

    /// Hands messages from the outbox, which are on the disk by now, to the broker.
    private func deliver(_ rows: [OutboxRow]) {
        let now = host.now
        for row in rows {
            guard owner?.delivers(row.publication) == true else {
                links.store.submit(.acknowledged(row.id))
                continue
            }
            watch.handedOver(row.id, on: row.publication.topic, at: now)
            // There is room, because the store delivers no more than the window, and other messages cannot take its places.
            publish(row.publication, as: row.id)
        }
    }

    // MARK: - Periodic work

    private func beginCheckpoints() {
        let timer = host.timer(tolerance: .seconds(5)) { [unowned self] now in
            handle(.checkpoint, at: now)
            pruneHistory(at: now)
            // Summer time may have begun or ended.
            if host.wallClock.utcOffset != wallClock.utcOffset { readClock() }
            timers.checkpoint?.arm(after: AppTimers.checkpointInterval)
        }
        timer.arm(after: AppTimers.checkpointInterval)
        timers.checkpoint = timer
        pruneHistory(at: host.now)
    }

    /// Removes old entries from the history, when `HistoryPruning` says so.
    private func pruneHistory(at now: MonotonicInstant) {
        guard let owner else { return }
        let limit = owner.historyBegin(at: 0).map { -$0 }
        let outcome = timers.pruning.look(at: host.wallClock, boot: host.bootID, now: now, keeping: limit)
        for request in outcome.requests { links.store.submit(request) }
        if let doubt = outcome.doubt { log.once("history", .warning, doubt) }
    }

    /// The wall clock was set, or may be trusted now.
    package func readClock() {
        let clock = host.wallClock
        let wasKnown = wallClock.isKnown
        guard clock.isKnown || !wasKnown else {
            let text =
                "the wall clock was set to a time that cannot be right; messages keep to the time as it was known"
            return log.once("clock", .warning, text)
        }
        wallClock = clock
        handle(.wallClock(clock), at: host.now)
        if clock.isKnown {
            if !wasKnown { owner?.clockIsKnown() }
            links.store.submit(.clockIsKnown(clock))
            if !wasKnown { log.notice("the wall clock is set") }
        } else {
            log.once("clock", .notice, "the wall clock is not set yet; messages wait for it")
            timers.clock?.arm(after: .seconds(5))
        }
    }

    // MARK: - Settings

    /// Reads the configuration file again.
    package func reload() {
        host.report(.reloading)
        defer { host.report(.reloaded) }
        links.store.submit(.checkEdits)
        do throws(Failure) {
            let new = try settings.readAgain()
            guard let path = new.path else { return log.notice("there is no configuration file to read again") }
            guard let owner else { return }
            let reload = try owner.adopt(new)
            log.notice("read \(path) again; \(reload.text)")
            owner.putInForce(reload)
            pruneHistory(at: host.now)
        } catch {
            log.error("\(error.message); the old settings stay in force")
        }
    }
}
