import Base
import Configuration
import Runtime
import Storage
import System

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
            case .deliver(let rows): deliver(rows)
            case .regionEdits(let edits): owner?.merge(edits, at: now)
            case .failed(_, willRetry: false): handle(.writeLost, at: now)
            case .stateLost: handle(.stateLost, at: now)
            case .notice, .unavailable, .troubled, .recovered, .failed, .stopped: break
            }
        }
    }

    /// The store is open: the core restores the stored state, and the other links are opened.
    private func begin(with snapshot: StoreSnapshot, at now: MonotonicInstant) {
        guard let owner else { return }
        owner.restore(snapshot, at: now)
        owner.merge(snapshot.edits, at: now)
        readClock()
        beginCheckpoints()
        connect()
        let status = owner.begin(with: snapshot, at: now)
        armDeadline()
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
            watch.handedOver(row.id, at: now)
            // There is room, because the store delivers no more than the window.
            publish(row.publication, as: row.id)
        }
    }

    // MARK: - Periodic work

    /// How often presence is offered to the store while nothing is decided. The store writes it together with other
    /// data, or once in `StoreSettings.checkpointInterval`.
    private static var checkpointInterval: Duration { .seconds(60) }

    private func beginCheckpoints() {
        let timer = host.timer(tolerance: .seconds(5)) { [unowned self] now in
            handle(.checkpoint, at: now)
            pruneHistory(at: now)
            // Summer time may have begun or ended.
            if host.wallClock.utcOffset != wallClock.utcOffset { readClock() }
            timers.checkpoint?.arm(after: Self.checkpointInterval)
        }
        timer.arm(after: Self.checkpointInterval)
        timers.checkpoint = timer
        pruneHistory(at: host.now)
    }

    /// Once a day, removes old entries from the history; not before the time of day is known.
    private func pruneHistory(at now: MonotonicInstant) {
        guard wallClock.isKnown else { return }
        if let last = timers.lastPruned, last.duration(to: now) < .seconds(86_400) { return }
        timers.lastPruned = now
        if let begin = owner?.historyBegin(at: wallClock.epochSeconds(at: now)) {
            links.store.submit(.pruneHistory(before: begin))
        }
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
            links.store.submit(.clockIsKnown(WallClockReading(epochNanosecondsAtBoot: clock.epochOffset)))
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
        guard let path = settings.path else { return log.notice("there is no configuration file to read again") }
        do throws(Failure) {
            let new = try Settings(readingFrom: path, stateDirectory: settings.stateDirectory)
            guard let owner else { return }
            let reload = try owner.adopt(new)
            log.notice("read \(path) again; \(reload.text)")
            owner.putInForce(reload)
            timers.lastPruned = nil
            pruneHistory(at: host.now)
        } catch {
            log.error("\(error.message); the old settings stay in force")
        }
    }
}
