import Base
import Beacon
import Configuration
import Gateway
import OwnTracks
import Presence
import Runtime
import Storage
import System

/// What the daemon remembers to keep presence across restarts and suspends.
struct PresenceKeeping {
    /// `/proc/sys/kernel/random/boot_id`: which start of the machine the monotonic clock counts from.
    private(set) var boot = ""
    fileprivate var timer: LoopTimer?
    /// When the gateway was given its last input.
    fileprivate var lastTaken: MonotonicInstant?
    fileprivate var lastPruned: MonotonicInstant?
    fileprivate var suspended = Clocks.suspended()

    mutating func readBoot() throws(Failure) -> String {
        let bytes = try FileAccess.read("/proc/sys/kernel/random/boot_id")
        boot = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return boot
    }
}

extension Daemon {
    /// How often presence is offered to the store when no beacon comes or goes. The store writes it together with
    /// something else, or once in `StoreSettings.checkpointInterval`.
    private static let checkpointInterval: Duration = .seconds(60)
    /// Between two inputs that are closer than this, no suspend that matters has room.
    private static let shortestAbsence: Duration = .milliseconds(200)

    /// Who was where when the program ended, as far as it was kept.
    func kept(in snapshot: StoreSnapshot) -> KeptPresence? {
        guard let record = snapshot.presence else { return nil }
        guard record.version == Int64(KeptPresence.version),
            let kept = KeptPresence(bytes: record.state, changes: record.changes)
        else {
            log.warning("who was inside cannot be read from the state (form \(record.version)); all enter anew")
            return nil
        }
        return kept
    }

    /// Begins to offer presence to the store now and then.
    func keepPresence() throws(SystemError) {
        let timer = try loop.timer(tolerance: .seconds(5)) { [unowned self] now in
            checkpoint(at: now)
            pruneHistory(at: now)
        }
        keeping.timer = timer
        try timer.arm(after: Self.checkpointInterval)
        pruneHistory(at: Clocks.now())
    }

    private func checkpoint(at now: MonotonicInstant) {
        take(.checkpoint, at: now)
        do throws(SystemError) {
            try keeping.timer?.arm(after: Self.checkpointInterval)
        } catch {
            log.error("cannot set a timer: \(error)")
        }
    }

    /// Once a day, forgets what is older than `days`; not before the time of day is known.
    private func pruneHistory(at now: MonotonicInstant) {
        guard gateway.wallClock.isKnown else { return }
        if let last = keeping.lastPruned, last.duration(to: now) < .seconds(86_400) { return }
        keeping.lastPruned = now
        let days = Int64(settings.configuration.historyDays)
        store?.submit(.pruneHistory(before: gateway.wallClock.epochSeconds(at: now) - days * 86_400))
    }

    /// Accounts for a suspend of the machine before any other input, or the gateway would take it for the silence of
    /// the beacons. `take` calls it, which all inputs go through.
    func noteSuspend(at now: MonotonicInstant) {
        let last = keeping.lastTaken ?? now
        keeping.lastTaken = max(now, last)
        guard last.duration(to: now) >= Self.shortestAbsence else { return }
        let suspended = Clocks.suspended()
        let absence = suspended - keeping.suspended
        keeping.suspended = suspended
        guard absence >= Self.shortestAbsence else { return }
        perform(gateway.handle(.absent(absence), at: now))
    }
}

extension PresenceUpdate.Whole {
    /// As the store has it.
    func record(at now: MonotonicInstant) -> PresenceRecord {
        PresenceRecord(
            version: Int64(KeptPresence.version), state: bytes, inside: inside.map(\.row), savedAt: now)
    }
}

extension PresenceUpdate {
    /// As the store has it.
    func change(at now: MonotonicInstant) -> StoreChange {
        switch self {
        case .whole(let whole): .presence(whole.record(at: now))
        case .change(let change):
            .presenceChange(
                PresenceChange(
                    state: change.bytes, entered: change.entered.map(\.row),
                    left: change.left.map { PresenceRecord.Place(tracker: $0.topic, rid: $0.rid) }))
        }
    }
}

extension PresenceUpdate.Inside {
    fileprivate var row: PresenceRecord.Inside {
        PresenceRecord.Inside(tracker: place.topic, rid: place.rid, beacon: beacon, since: since, lastHeard: nil)
    }
}
