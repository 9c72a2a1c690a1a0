internal import Beacon
internal import Gateway
internal import OwnTracks
internal import Presence
internal import Runtime
internal import Storage

/// What the daemon remembers to keep presence across restarts and suspends.
struct PresenceKeeping {
    /// `/proc/sys/kernel/random/boot_id`: which start of the machine the monotonic clock counts from.
    private(set) var boot = ""
    fileprivate var timer: LoopTimer?
    fileprivate var sightingsAtCheckpoint: UInt64 = 0
    /// When something was last taken in.
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
    /// How often presence is offered to the store when nobody comes or goes. The store writes it together with
    /// something else, or once in `StoreSettings.checkpointInterval`.
    private static let checkpointInterval: Duration = .seconds(60)
    /// Between two inputs that are closer than this, no suspend that matters has room.
    private static let shortestAbsence: Duration = .milliseconds(200)
    /// Somebody was to leave, and is asked for this much later: then this program did not run in between. It was
    /// stopped, the machine is too busy, or the disk held it up; and reports were not taken in either.
    private static let toleratedLateness: Duration = .milliseconds(20)

    /// Who is where, as the store keeps it.
    func presenceRecord(at now: MonotonicInstant) -> PresenceRecord {
        keeping.sightingsAtCheckpoint = gateway.counters.sightings
        var inside: [PresenceRecord.Inside] = []
        for tracker in gateway.trackers {
            for (rid, occupancy) in tracker.occupancy {
                inside.append(row(of: occupancy, in: PresenceRecord.Place(tracker: tracker.topics.base, rid: rid)))
            }
        }
        return PresenceRecord(
            version: Int64(KeptPresence.version), state: gateway.keepPresence(at: now), inside: inside,
            savedAt: now)
    }

    /// What a transition changed in who is where: the change alone, if it can be told apart.
    func presenceChange(at now: MonotonicInstant) -> StoreChange {
        guard let change = gateway.presenceChange(at: now) else { return .presence(presenceRecord(at: now)) }
        var entered: [PresenceRecord.Inside] = []
        var left: [PresenceRecord.Place] = []
        for key in change.regions {
            let tracker = gateway.trackers[key.tracker]
            let place = PresenceRecord.Place(tracker: tracker.topics.base, rid: key.rid)
            if let occupancy = tracker.occupancy[key.rid] {
                entered.append(row(of: occupancy, in: place))
            } else {
                left.append(place)
            }
        }
        return .presenceChange(PresenceChange(state: change.bytes, entered: entered, left: left))
    }

    private func row(of occupancy: Occupancy, in place: PresenceRecord.Place) -> PresenceRecord.Inside {
        PresenceRecord.Inside(
            tracker: place.tracker, rid: place.rid, beacon: occupancy.beacon,
            since: gateway.wallClock.isKnown ? occupancy.timestamp(by: gateway.wallClock) : nil, lastHeard: nil)
    }

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
        // In a house where nothing is heard and nobody is, nothing changes and nothing is written.
        let isQuiet =
            gateway.counters.sightings == keeping.sightingsAtCheckpoint
            && gateway.trackers.allSatisfy(\.occupancy.isEmpty)
        if !isQuiet { store?.submit(.checkpoint(presenceRecord(at: now))) }
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

    /// Tells the gateway, before anything else, of a time in which nobody listened because the machine slept or
    /// this program did not run. Else it would take that for the silence of the beacons.
    func noteAbsence(at now: MonotonicInstant) {
        let last = keeping.lastTaken ?? now
        keeping.lastTaken = max(now, last)
        let gap = last.duration(to: now)
        guard gap >= Self.shortestAbsence else { return }
        let suspended = Clocks.suspended()
        var absence = suspended - keeping.suspended
        keeping.suspended = suspended
        // The time since the last input is more than the absence, and errs to the side of patience.
        if let due = gateway.leaveDeadline, due.duration(to: now) > Self.toleratedLateness {
            absence = max(absence, gap)
        }
        guard absence >= Self.shortestAbsence else { return }
        log.once(
            "absence", absence < .seconds(5) ? .info : .notice,
            "nobody listened for \(decimal(absence)) s: the machine slept, or this program did not run")
        perform(gateway.handle(.slept(absence), at: now))
    }
}
