package import Base
import Beacon
package import Configuration
package import Identities
package import JSON
package import OwnTracks
import Presence
import Regions

/// All decisions of the gateway: sightings, commands, edits and time in; messages and state to store out.
///
/// `handle` is the only mutating entrance. The gateway reads no clock, opens no file and has no socket, so that every
/// behaviour can be replayed. Its state may be read at any time.
package struct Gateway: Sendable {
    package internal(set) var configuration: Configuration
    package internal(set) var trackers: [TrackerState]
    /// What the trackers had that the settings no longer contain.
    var removed = RemovedTrackers()
    package internal(set) var wallClock: WallClock
    /// The stored settings of `setConfiguration`, which replace those of the file.
    package internal(set) var remoteSettings: JSONValue?
    /// What the regions listen for beside iBeacons, each once, for the radio.
    package private(set) var identities: [Identity] = []
    /// The UUIDs of phones and watches whose keys are known.
    private(set) var phones: Set<BeaconUUID> = []
    /// Whether each transition is explained in the debug log. Formatting the explanation costs time.
    package let explainsTransitions: Bool
    /// The counters, without those of the commands.
    var totals = Counters()
    /// The last refused commands and waypoints.
    package internal(set) var refusals = RecentRefusals()
    var engine = PresenceEngine()
    private(set) var startedAt = MonotonicInstant.zero
    /// What tells this hardware from any other, as it is stored; nil: not known.
    private(set) var hardware: [UInt8]?
    /// Members of the answer to `status` that the service provided.
    var about: [String: JSONValue] = [:]
    /// The beacon regions in force and their index, for ranging only.
    var monitored: [MonitoredRegion] = []
    var index = RegionIndex([])
    var ranging: RangingThrottle
    /// Decided transitions that are not carried out yet.
    var transitions = TurnQueue<PendingTransition>(turn: 100, pause: .milliseconds(5))
    /// Announcements of regions that are not published yet.
    var announcements = TurnQueue<RegionAnnouncement>(turn: 250, pause: .milliseconds(20))
    /// The commands that are not carried out yet, and the counts of all.
    var commands = CommandGate(of: .gateway)
    /// The trackers whose cards wait to be published, by their position. A card may hold a picture: of many trackers, they would fill
    /// the memory and the queue of the store.
    var cards = TurnQueue<Int>(turn: 1, pause: Gateway.cardPause)
    /// The rounds of announcements that starts of Home Assistant cause.
    var births = RoundLimit(pause: .seconds(30))
    var persistence = PresencePersistence()
    var batteries = BatteryTable()
    /// The low batteries as they were stored last.
    var storedLowBatteries = Array("[]".utf8)
    /// The last merged edit of each tracker, by topic.
    var lastEdits: [ExactString: Int64] = [:]
    /// When the next turn of a queue is due. Stored, because it is read after each sighting.
    private var queueDue: MonotonicInstant?
    /// The instant of the last input.
    private(set) var latest = MonotonicInstant.zero
    /// The last instant that was passed to the engine.
    private var engineTime = MonotonicInstant.zero
    /// Whether the latest tick was late.
    private var wasLate = false
    /// Whether the stored state was restored. Before that, storing anything would overwrite it.
    package private(set) var isStarted = false
    /// Whether the state of all regions was published since the start.
    private var hasAnnounced = false

    package init(configuration: Configuration, wallClock: WallClock, explainsTransitions: Bool) {
        self.configuration = configuration
        self.wallClock = wallClock
        self.explainsTransitions = explainsTransitions
        ranging = RangingThrottle(interval: configuration.rangingInterval)
        trackers = configuration.trackers.map { TrackerState($0, monitoring: configuration.monitoring) }
    }

    package var counters: Counters {
        var counters = totals
        counters.commands = commands.counts
        return counters
    }

    /// When the next `tick` is needed; nil while nothing is pending.
    package var nextDeadline: MonotonicInstant? {
        guard let queueDue else { return engine.nextDeadline }
        return min(queueDue, engine.nextDeadline ?? queueDue)
    }

    /// Handles one input at `instant`. Time does not go backwards: an instant before the previous one (of a report that
    /// waited in a socket) is replaced by the previous one.
    ///
    /// - Returns: one decision. Everything that it stores belongs into one transaction.
    package mutating func handle(_ input: Input, at instant: MonotonicInstant) -> [Effect] {
        let now = max(instant, latest)
        latest = now
        let effects = decide(input, at: now)
        // A sighting or reading without effects, the usual case, changes no queue.
        switch input {
        case .sighting, .telemetry: if effects.isEmpty { return effects }
        default: break
        }
        defer { queueDue = earliestOfQueues }
        return effects.isEmpty ? effects : withPresence(effects, at: now)
    }

    private var earliestOfQueues: MonotonicInstant? {
        let clears = trackers.compactMap(\.pendingClear?.due)
        let queues = [transitions.due, announcements.due, cards.due, commands.due, locationDue, births.due]
        return (queues.compactMap(\.self) + clears).min()
    }

    private mutating func decide(_ input: Input, at now: MonotonicInstant) -> [Effect] {
        switch input {
        case .sighting(let sighting):
            totals.sightings += 1
            let effects = presence(.sighting(sighting), at: now)
            return configuration.ranging ? effects + range(sighting, at: now) : effects
        case .telemetry(let telemetry): return record(telemetry, at: now)
        case .phones(let uuids): return setPhones(uuids, at: now)
        case .listening(let receiver, let isListening):
            return presence(.listening(receiver, isListening), at: now)
        case .scanDuty(let receiver, let duty): return presence(.scanDuty(receiver, duty), at: now)
        case .absent(let duration): return handleAbsence(duration, at: now)
        case .tick: return tick(at: now)
        case .start(let stored): return start(with: stored, at: now)
        case .checkpoint: return checkpoint(at: now) + storeLowBatteries()
        case .stopping:
            guard isStarted else { return [] }
            return carryOutLastCommands(at: now) + carryOutLastTurns(at: now)
                + [.presence(.whole(wholePresence(at: now)))] + storeLowBatteries()
        case .wallClock(let clock): return setWallClock(clock, at: now)
        case .command(let command): return receive(command, at: now)
        case .regionEdits(let edits): return apply(edits, at: now)
        case .request(let request): return carryOut(request, at: now)
        case .settings(let outcome): return finish(outcome, at: now)
        case .configuration(let configuration, let modes): return reconfigure(configuration, modes, at: now)
        case .writeLost:
            persistence.needsWhole()
            return []
        case .stateLost: return storeEverything(at: now)
        case .brokerConnected(let isNew):
            defer { hasAnnounced = true }
            guard hasAnnounced, isNew else { return hasAnnounced ? [] : announce(at: now, isAgain: false) }
            return announce(at: now, isAgain: true) + locationsAgain(at: now)
        // Any client may publish it, and each round is thousands of messages.
        case .homeAssistantStarted: return births.want(at: now) ? announce(at: now, isAgain: true) : []
        case .requestRefused(let topic):
            let refusal = commands.refuse(.overload, "requests come too fast")
            refusals.add(refusal.text, on: topic, at: now)
            return [.log(LogEntry(.warning, "command-refused", refusal.logLine(on: topic), of: topic))]
        }
    }

    private mutating func setWallClock(_ clock: WallClock, at now: MonotonicInstant) -> [Effect] {
        // The stored begins refer to the previous clock.
        if !clock.isCloseTo(wallClock) { persistence.needsWhole() }
        wallClock = clock
        for position in trackers.indices { trackers[position].makeBeginsExact(by: clock, at: now) }
        batteries.makeTimesExact(by: clock, at: now)
        return []
    }

    // MARK: - Time

    /// A tick that is later than this was delayed by a stopped process, a busy machine or a long turn of the loop. A
    /// turn takes no longer than this.
    package static let toleratedLateness: Duration = .milliseconds(100)
    /// An absence from this length on is reported in the log.
    private static let notableAbsence: Duration = .milliseconds(200)

    /// Lets silence count, and carries out everything that is due.
    ///
    /// For as long as a tick is late, no report was handled. That time does not count as silence. Where the tick before
    /// was late too, it counts as far as any tick may be late: else, on a machine where every tick is late, time would
    /// only pass from one deadline to the next, and with many beacons hardly at all.
    private mutating func tick(at now: MonotonicInstant) -> [Effect] {
        var effects: [Effect] = []
        let late = engine.nextDeadline.map { $0.duration(to: now) } ?? .zero
        engineTime = now
        let isLate = late > Self.toleratedLateness
        defer { wasLate = isLate }
        if isLate {
            effects += report(absence: late)
            let counted = wasLate ? Self.toleratedLateness : .zero
            effects += carryOut(engine.handle(.slept(late - counted), at: now), at: now)
        } else {
            effects += carryOut(engine.handle(.tick, at: now), at: now)
        }
        effects += carryOutDueTransitions(at: now)
        effects += publishDueLocations(at: now)
        effects += carryOutDueCommands(at: now)
        effects += cards.nextIfDue(at: now).flatMap { card(of: $0, at: now) }
        if announcements.due == nil, cards.due == nil, births.begin(at: now) {
            effects += announce(at: now, isAgain: true)
        }
        effects += carryOutDueClears(at: now)
        return effects + publishDueAnnouncements(at: now)
    }

    private mutating func handleAbsence(_ duration: Duration, at now: MonotonicInstant) -> [Effect] {
        report(absence: duration) + presence(.slept(duration), absent: duration, at: now)
    }

    private func report(absence: Duration) -> [Effect] {
        guard absence >= Self.notableAbsence else { return [] }
        let text =
            "no receiver listened for \(absence.nanoseconds / 1_000_000_000) s: "
            + "the machine was suspended, or this program did not run"
        return [.log(LogEntry(absence < .seconds(5) ? .info : .notice, "absence", text))]
    }

    /// Passes an input to the presence engine, and carries out its decisions.
    ///
    /// A beacon leaves by silence only at a tick: before that, a report of it may wait in a socket. So for all other
    /// inputs the engine's time stops before the first leave that is due.
    mutating func presence(
        _ input: PresenceEngine.Input, absent: Duration = .zero, at now: MonotonicInstant
    ) -> [Effect] {
        var instant = now
        if let due = engine.nextDeadline, due <= now {
            // An absence delays the leave.
            instant = min(now, MonotonicInstant(nanoseconds: due.nanoseconds &+ absent.nanoseconds &- 1))
        }
        engineTime = max(engineTime, instant)
        let decisions = engine.handle(input, at: engineTime)
        return decisions.isEmpty ? [] : carryOut(decisions, at: now)
    }

    // MARK: - Regions

    /// Restores the stored state, and merges the regions of the configuration into it.
    private mutating func start(with stored: StoredState, at now: MonotonicInstant) -> [Effect] {
        isStarted = true
        startedAt = now
        configuration = stored.configuration
        remoteSettings = stored.remoteSettings
        commands = CommandGate(of: .gateway, obeyed: stored.obeyedEnvelopes)
        about = stored.about
        hardware = stored.hardware
        ranging = RangingThrottle(interval: configuration.rangingInterval)
        trackers = configuration.trackers.map { TrackerState($0, monitoring: configuration.monitoring) }
        for tracker in trackers.indices { trackers[tracker].lastLocation = now }
        for (tracker, regions) in stored.regions.enumerated() where trackers.indices.contains(tracker) {
            trackers[tracker].regions = regions
        }
        for (tracker, kept) in stored.monitoring.enumerated() where trackers.indices.contains(tracker) {
            trackers[tracker].monitoring = kept?.mode(for: configuration.monitoring) ?? configuration.monitoring
        }
        for (tracker, applied) in stored.appliedCommands.enumerated() where trackers.indices.contains(tracker) {
            trackers[tracker].appliedCommands = applied
        }
        for (tracker, rids) in stored.pendingClears.enumerated() where trackers.indices.contains(tracker) {
            trackers[tracker].pendingClear = rids.isEmpty ? nil : PendingClear(due: now, rids: rids)
        }
        removed = RemovedTrackers()
        let crowdedOut = removed.keep(stored.removed)
        if let low = stored.lowBatteries { restoreLowBatteries(low) }
        var effects = storedAnew(stored) + forgotten(crowdedOut) + trimRemoved()
        effects += publish(abandonedStates(before: stored), at: now)
        if stored.servedTopics != servedTopics { effects.append(.value(key: Self.servedTopicsKey, servedTopics)) }
        let hasOtherDevices = stored.servedDevices != servedDevices
        if hasOtherDevices { effects.append(.value(key: Self.servedDevicesKey, servedDevices)) }
        // A copied card may run as the first gateway until its settings are changed, so the hardware stays until then.
        if let hardware, hasOtherDevices || stored.servedHardware == nil {
            effects.append(.value(key: Self.servedHardwareKey, hardware))
        }
        if stored.removedTopics != removed.topicsBytes {
            effects.append(.value(key: Self.removedTopicsKey, removed.topicsBytes))
        }
        let isCopy = stored.isCopy
        if !isCopy, case .kept(let kept, let isSameBoot) = stored.presence {
            // The state is restored before the configuration is merged, because that may end an occupancy.
            effects += monitor(at: now) + restore(kept, of: stored.topics, isSameBoot: isSameBoot, at: now)
        }
        effects += mergeConfiguredRegions(at: now) + finishClears(at: now)
        // Its waiting messages are sent, perhaps a second time: this may also be the first gateway on another machine with another name.
        if isCopy {
            let text = "the state is that of another device on other hardware: its presence is left out"
            effects += [.presence(.whole(wholePresence(at: now))), .log(LogEntry(.notice, "state", text))]
        }
        if case .occupied(let occupancy) = stored.presence {
            for (tracker, regions) in occupancy.enumerated() where trackers.indices.contains(tracker) {
                trackers[tracker].occupancy = regions
            }
        }
        return effects
    }

    /// Stores what has another key or value since the settings changed: all state of a tracker with another topic, and a
    /// monitoring mode that gave way to the setting.
    private func storedAnew(_ stored: StoredState) -> [Effect] {
        trackers.indices.flatMap { position -> [Effect] in
            let tracker = trackers[position]
            let hasMoved =
                stored.topics.indices.contains(position)
                && !stored.topics[position].hasSameBytes(as: tracker.topics.base)
            let kept = stored.monitoring.indices.contains(position) ? stored.monitoring[position] : nil
            var effects: [Effect] = []
            if hasMoved {
                effects += [.regions(topic: tracker.topics.base, tracker.regions), tracker.storedAppliedCommands]
                effects += Self.forgotten(topic: stored.topics[position], setting: configuration.monitoring)
                effects.append(.forget(key: Self.pendingClearKey(of: stored.topics[position])))
            }
            if let kept, hasMoved || kept != KeptMonitoring(tracker.monitoring, setting: configuration.monitoring) {
                effects.append(tracker.storedMonitoring(configuration.monitoring))
            }
            return effects
        }
    }

    mutating func mergeConfiguredRegions(at now: MonotonicInstant) -> [Effect] {
        var effects: [Effect] = []
        var announced: [RegionAnnouncement] = []
        var total = regionCount
        for tracker in trackers.indices {
            var regions = trackers[tracker].regions
            let changes = completed(trackers[tracker].configuration.waypoints.changes, of: tracker, at: now)
            let set = regions.rids(setBy: changes)
            let difference = regions.apply(changes)
            effects += keep(set, of: tracker)
            guard !difference.isEmpty else { continue }
            let newTotal = total - trackers[tracker].regions.regions.count + regions.regions.count
            if let refusal = refusal(of: difference, total: newTotal) {
                effects.append(refusal)
                continue
            }
            total = newTotal
            trackers[tracker].former = trackers[tracker].regions
            trackers[tracker].regions = regions
            effects.append(.regions(topic: trackers[tracker].topics.base, regions))
            announced += announcements(of: difference, tracker: tracker)
        }
        let left = monitor(at: now) + crossCircles(of: trackers.indices, at: now)
        for tracker in trackers.indices { trackers[tracker].former = nil }
        return left + effects + publish(announced, at: now)
    }

    /// Passes the present regions to the engine.
    mutating func monitor(at now: MonotonicInstant) -> [Effect] {
        monitored = monitoredRegions
        var known: Set<Identity> = []
        identities = trackers.flatMap { $0.regions.regions.compactMap(\.identity) }.filter { known.insert($0).inserted }
        for tracker in trackers.indices { trackers[tracker].forgetAbsences() }
        persistence.needsWhole()
        // Presence has an index of its own. This one is only for ranging.
        index = RegionIndex(configuration.ranging ? monitored.map(\.pattern) : [])
        defer { forgetBatteries() }
        return presence(.regions(monitored), at: now)
    }

    /// Other phones are known: their regions are left later than those of beacons.
    private mutating func setPhones(_ uuids: Set<BeaconUUID>, at now: MonotonicInstant) -> [Effect] {
        guard uuids != phones else { return [] }
        phones = uuids
        return monitor(at: now)
    }

    /// The beacon regions of all trackers, with every default filled in.
    private var monitoredRegions: [MonitoredRegion] {
        trackers.enumerated().flatMap { position, tracker in
            tracker.regions.regions.compactMap { region -> MonitoredRegion? in
                guard case .beacon(let pattern) = region.kind else { return nil }
                var monitored = MonitoredRegion(
                    key: RegionKey(tracker: position, rid: region.rid),
                    pattern: pattern.cleared(of: configuration.batteryMasks),
                    leaveRule: region.leaveRule ?? configuration.leaveRule,
                    leavesLater: region.asksForLongerLeave,
                    enterRSSI: region.enterRSSI ?? configuration.enterRSSI,
                    leaveRSSI: region.leaveRSSI ?? configuration.leaveRSSI)
                monitored.isOfPhone = phones.contains(pattern.uuid)
                return monitored
            }
        }
    }
}
