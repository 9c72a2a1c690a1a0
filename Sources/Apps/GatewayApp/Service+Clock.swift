import Base
import Configuration
import Gateway
import Runtime
import Shell
import Storage

/// Periodic work: the service reads the wall clock and offers presence to the store.
extension Service {
    /// How often presence is offered to the store while no region changes. The store writes it together with other
    /// data, or once in `StoreSettings.checkpointInterval`.
    private static let checkpointInterval: Duration = .seconds(60)

    /// The wall clock was set, or may be trusted now.
    package func readClock() {
        let clock = host.wallClock
        let wasKnown = gateway.wallClock.isKnown
        guard clock.isKnown || !wasKnown else {
            let text =
                "the wall clock was set to a time that cannot be right; messages keep to the time as it was known"
            return log.once("clock", .warning, text)
        }
        handle(.wallClock(clock), at: host.now)
        if clock.isKnown {
            links.store.submit(.clockIsKnown(WallClockReading(epochNanosecondsAtBoot: clock.epochOffset)))
            if !wasKnown { log.notice("the wall clock is set") }
        } else {
            log.once("clock", .notice, "the wall clock is not set yet; messages wait for it")
            timers.clock?.arm(after: .seconds(5))
        }
    }

    func beginCheckpoints() {
        let timer = host.timer(tolerance: .seconds(5)) { [unowned self] now in
            handle(.checkpoint, at: now)
            pruneHistory(at: now)
            // Summer time may have begun or ended.
            if host.wallClock.utcOffset != gateway.wallClock.utcOffset { readClock() }
            timers.checkpoint?.arm(after: Self.checkpointInterval)
        }
        timer.arm(after: Self.checkpointInterval)
        timers.checkpoint = timer
        pruneHistory(at: host.now)
    }

    /// Once a day, removes entries older than `days` from the history; not before the time of day is known.
    private func pruneHistory(at now: MonotonicInstant) {
        guard gateway.wallClock.isKnown else { return }
        if let last = timers.lastPruned, last.duration(to: now) < .seconds(86_400) { return }
        timers.lastPruned = now
        let epoch = gateway.wallClock.epochSeconds(at: now)
        if let begin = settings.configuration.historyBegin(at: epoch) {
            links.store.submit(.pruneHistory(before: begin))
        }
    }
}
