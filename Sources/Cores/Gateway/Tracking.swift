import Base
import Beacon
import Configuration
import Identities
import OwnTracks
import Presence
import Regions

/// Where the trackers are: presence and regions in; transitions, what is announced of them, and what is kept of them out.
///
/// It coordinates the parts between which every change of a region and every transition goes. Each of them owns a state and the
/// rules about it; here is what follows from one in the others.
struct Tracking: Sendable {
    private(set) var trackers: Trackers
    private(set) var engine = PresenceEngine()
    private(set) var batteries = Batteries()
    /// What the regions listen for beside iBeacons, each once, for the radio.
    private(set) var identities: [Identity] = []
    /// The counters of transitions, readings and refused regions.
    private(set) var counts = Gateway.Counters()
    private(set) var removed = RemovedTrackers()
    private var silence = SilenceClock()
    private var keeper = PresenceKeeper()
    private var transitions = Transitions()
    private var announcer = Announcer()
    private var ranging: Ranging
    /// The UUIDs of phones and watches whose keys are known.
    private var phones: Set<BeaconUUID> = []
    /// Whether each transition is explained in the debug log. Formatting the explanation costs time.
    private let explainsTransitions: Bool

    init(by settings: Configuration, explainsTransitions: Bool) {
        self.explainsTransitions = explainsTransitions
        trackers = Trackers(of: settings)
        ranging = Ranging(by: settings)
    }

    /// When the next turn of a part is due; nil: nothing waits.
    func turnDue(by settings: Configuration) -> MonotonicInstant? {
        [transitions.due, announcer.due, trackers.locationDue(by: settings), trackers.clearDue].compactMap(\.self).min()
    }

    // MARK: - Presence

    /// A receiver heard an iBeacon.
    ///
    /// - Returns: decisions for `carryOut`; usually none.
    mutating func hear(_ sighting: Sighting, at now: MonotonicInstant) -> [PresenceEngine.Effect] {
        counts.sightings += 1
        return hear(.sighting(sighting), at: now)
    }

    /// Passes an input to the presence engine.
    ///
    /// - Parameter absent: How long no receiver listened before it.
    /// - Returns: decisions for `carryOut`; usually none.
    mutating func hear(_ input: PresenceEngine.Input, absent: Duration = .zero, at now: MonotonicInstant)
        -> [PresenceEngine.Effect]
    {
        let instant = silence.instant(at: now, before: engine.nextDeadline, absent: absent)
        return engine.handle(input, at: instant)
    }

    /// Carries out decisions of the presence engine: one turn of them at once, and the others in later turns.
    mutating func carryOut(_ decisions: [PresenceEngine.Effect], by messages: Messages) -> [Gateway.Effect] {
        guard !decisions.isEmpty else { return [] }
        var notices: [Gateway.Effect] = []
        for decision in decisions {
            if case .dropped(let key) = decision {
                guard let region = trackers.crowdedRegion(key) else { continue }
                notices.append(.log(LogEntry(.warning, "strangers", "\(region)")))
            } else if let transition = trackers.transition(decision, at: messages.now) {
                transitions.add([transition])
            }
        }
        return notices + publish(transitions.begin(changing: &trackers, by: messages), by: messages)
    }

    /// Lets silence count, and carries out the transitions and locations that are due.
    mutating func tick(by messages: Messages) -> [Gateway.Effect] {
        let now = messages.now
        let late = silence.tick(at: now, leave: engine.nextDeadline)
        var effects = late.map { SilenceClock.report(absence: $0.duration) } ?? []
        effects += carryOut(engine.handle(late.map { .slept($0.uncounted) } ?? .tick, at: now), by: messages)
        effects += publish(transitions.nextIfDue(changing: &trackers, by: messages), by: messages)
        for tracker in trackers.indices { effects += trackers[tracker].publishDueLocations(by: messages) }
        return effects
    }

    /// Publishes one turn of transitions, which has changed the trackers.
    private mutating func publish(_ turn: [PendingTransition], by messages: Messages) -> [Gateway.Effect] {
        for transition in turn {
            counts.count(transition)
            keeper.recordChange(of: transition.key)
        }
        var effects: [Gateway.Effect] = []
        for transition in turn where trackers.indices.contains(transition.key.tracker) {
            effects += trackers[transition.key.tracker].publish(transition, by: messages)
            if explainsTransitions {
                effects += transition.explanation(by: engine, batteries, messages.settings, at: messages.now)
            }
            effects += switchMonitoring(of: transition.key.tracker, to: transition.monitoringMode, by: messages)
        }
        return effects
    }

    mutating func switchMonitoring(of tracker: Int, to mode: MonitoringMode?, by messages: Messages) -> [Gateway.Effect]
    {
        guard let mode else { return [] }
        let (stored, announcements) = trackers.switchMonitoring(
            of: tracker, to: mode, by: messages.settings, at: messages.now)
        return stored + announcer.publish(announcements, of: trackers, by: messages)
    }

    /// The wall clock was set or changed.
    mutating func setClock(_ clock: WallClock, isStep: Bool, at now: MonotonicInstant) {
        // The stored begins refer to the previous clock.
        if isStep { keeper.needsWhole() }
        trackers.makeBeginsExact(by: clock, at: now)
        batteries.makeTimesExact(by: clock, at: now)
    }

    // MARK: - Readings

    /// A beacon message of each tracker with a region that the beacon belongs to, as often as the throttle allows.
    mutating func range(_ sighting: Sighting, at now: MonotonicInstant) -> Ranging.Heard? {
        ranging.hear(sighting, at: now)
    }

    /// Keeps the reading of a beacon that belongs to a region. Readings of other beacons mean nothing to anyone.
    mutating func record(_ telemetry: BeaconTelemetry, at now: MonotonicInstant) -> [Gateway.Effect] {
        let names = trackers.distinctNames(of: telemetry.beacon, by: engine)
        guard !names.isEmpty else { return [] }
        counts.telemetry += 1
        return batteries.record(telemetry, names: names, at: now)
    }

    // MARK: - Regions

    /// Passes the present regions to the engine.
    private mutating func monitor(by messages: Messages) -> [Gateway.Effect] {
        let monitored = trackers.monitoredRegions(by: messages.settings, phones: phones)
        identities = trackers.identities
        trackers.forgetRemovedRegions()
        keeper.needsWhole()
        ranging.replaceRegions(by: messages.settings.ranging ? monitored : [])
        let effects = carryOut(hear(.regions(monitored), at: messages.now), by: messages)
        batteries.forget(besides: engine)
        return effects
    }

    /// Other phones are known: their regions are left later than those of beacons.
    mutating func setPhones(_ uuids: Set<BeaconUUID>, by messages: Messages) -> [Gateway.Effect] {
        guard uuids != phones else { return [] }
        phones = uuids
        return monitor(by: messages)
    }

    /// Merges changes into a tracker's regions in one step.
    ///
    /// - Returns: `refusal` says why none is merged: there would be too many regions.
    mutating func merge(_ changes: [RegionChange], of tracker: Int, by messages: Messages) -> (
        effects: [Gateway.Effect], refusal: String?
    ) {
        let merge = trackers[tracker].merging(changes, total: trackers.regionCount, epoch: messages.epoch)
        guard !merge.isRefused else {
            counts.waypointsRefused += merge.refused
            return ([merge.refusal], merge.reason)
        }
        let kept = trackers[tracker].keep(merge.rids)
        let replaced = replaceRegions(of: tracker, by: merge.regions, merge.difference, by: messages)
        return (merge.difference.unmatchedEntries + kept + replaced, nil)
    }

    /// The regions of a `setWaypoints` that could not be used.
    mutating func countRefused(_ reading: WaypointsReading) { counts.waypointsRefused += UInt64(reading.problemCount) }

    /// Merges the regions of the settings into those of the trackers.
    private mutating func mergeConfiguredRegions(by messages: Messages, besides: Set<Int> = []) -> [Gateway.Effect] {
        let merged = trackers.mergeConfiguredRegions(by: messages, besides: besides)
        counts.waypointsRefused += merged.refused
        let left = monitor(by: messages) + crossCircles(of: trackers.indices, by: messages)
        trackers.endChanges()
        return left + merged.effects + announcer.publish(merged.announcements, of: trackers, by: messages)
    }

    /// Replaces a tracker's regions. An occupied region that is removed is left first.
    private mutating func replaceRegions(
        of tracker: Int, by regions: RegionSet, _ difference: RegionDifference, by messages: Messages
    ) -> [Gateway.Effect] {
        var effects = [difference.logEntry(count: regions.regions.count)]
        guard !difference.isEmpty else { return effects }
        // The transition of a region that is left because of the change has the old name.
        trackers[tracker].replaceRegions(by: regions)
        effects += monitor(by: messages) + crossCircles(of: [tracker], by: messages)
        trackers[tracker].endChange()
        effects += trimRemoved(by: messages.settings)
        effects.append(.regions(topic: trackers[tracker].topics.base, regions))
        let announcements = trackers.announcements(of: difference, tracker: tracker, by: messages.settings)
        return effects + announcer.publish(announcements, of: trackers, by: messages)
    }

    /// Carries out the circle transitions of these trackers after a change of their positions or regions.
    private mutating func crossCircles(of indices: some Sequence<Int>, by messages: Messages) -> [Gateway.Effect] {
        for index in indices {
            transitions.add(
                trackers.crossCircles(of: index, standing: messages.settings.position, at: messages.now))
        }
        return publish(transitions.begin(changing: &trackers, by: messages), by: messages)
    }

    /// Removes all regions of a tracker: those that it is inside a little later.
    mutating func clear(_ tracker: Int, by messages: Messages) -> [Gateway.Effect] {
        let rids = trackers[tracker].regions.regions.map { ExactString($0.rid) }
        let occupied = Set(rids.filter { engine.isOccupied(RegionKey(tracker: tracker, rid: $0.text)) })
        let (regions, difference) = trackers[tracker].clear(occupied: occupied, at: messages.now)
        return replaceRegions(of: tracker, by: regions, difference, by: messages) + [trackers[tracker].storedClear]
    }

    /// Ends the clears that wait.
    mutating func finishClears(by messages: Messages, where isEnded: (PendingClear) -> Bool = { _ in true }) -> [Gateway
        .Effect]
    {
        var effects: [Gateway.Effect] = []
        for tracker in trackers.indices {
            guard let pending = trackers[tracker].pendingClear, isEnded(pending),
                let (regions, difference) = trackers[tracker].finishClear()
            else { continue }
            effects += replaceRegions(of: tracker, by: regions, difference, by: messages)
            effects.append(trackers[tracker].storedClear)
        }
        return effects
    }

    /// Forgets the earliest removed trackers where there are too many regions.
    private mutating func trimRemoved(by settings: Configuration) -> [Gateway.Effect] {
        removed.trim(toRegions: Gateway.mostRegions - trackers.regionCount, setting: settings.monitoring)
    }

    // MARK: - Announcements

    /// The broker accepted the connection.
    ///
    /// - Parameter isNewSession: It remembers no session, and perhaps no retained message.
    mutating func connected(isNewSession: Bool, by messages: Messages) -> [Gateway.Effect] {
        let (effects, hasLostMessages) = announcer.connected(isNewSession: isNewSession, trackers, by: messages)
        return hasLostMessages ? effects + trackers.locationsAgain(by: messages) : effects
    }

    /// Home Assistant announced its start. It knows no state.
    mutating func homeAssistantStarted(by messages: Messages) -> [Gateway.Effect] {
        announcer.homeAssistantStarted(trackers, by: messages)
    }

    /// Publishes the location of a tracker, if it may be published now.
    mutating func location(
        of tracker: Int, _ trigger: Location.Trigger, pointOfInterest: String? = nil, by messages: Messages
    ) -> [Gateway.Effect] {
        trackers[tracker].location(trigger, pointOfInterest: pointOfInterest, by: messages)
    }

    /// Publishes the announcements, and ends the clears, that are due.
    mutating func publishDue(by messages: Messages) -> [Gateway.Effect] {
        announcer.publishDueRounds(of: trackers, by: messages)
            + finishClears(by: messages) { $0.due <= messages.now }
            + announcer.publishDueRegions(of: trackers, by: messages)
    }

    /// Remembers a command that the broker may send again.
    mutating func remember(_ digest: CommandDigest?, of tracker: Int) -> [Gateway.Effect] {
        trackers[tracker].remember(digest)
    }

    // MARK: - Start, end and other settings

    /// Restores the stored state, and merges the regions of the settings into it.
    ///
    /// - Parameter served: What is stored of the served devices.
    mutating func start(with stored: StoredState, _ served: ServedDevices, by messages: Messages) -> [Gateway.Effect] {
        let settings = messages.settings
        ranging = Ranging(by: settings)
        trackers = Trackers(stored, at: messages.now)
        removed = RemovedTrackers()
        let crowdedOut = removed.keep(stored.removed, setting: settings.monitoring)
        if let low = stored.lowBatteries { batteries.restore(low, by: messages.clock, at: messages.now) }
        var effects = trackers.storedAnew(since: stored) + crowdedOut + trimRemoved(by: settings)
        effects += announcer.publish(trackers.abandonedStates(before: stored), of: trackers, by: messages)
        effects += served.stored(trackers, since: stored)
        if stored.removedTopics != removed.topicsBytes { effects.append(removed.storedTopics) }
        if !stored.isCopy, case .kept(let kept, let isSameBoot) = stored.presence {
            // The state is restored before the configuration is merged, because that may end an occupancy.
            effects += monitor(by: messages)
            announcer.restored()
            let state = PresenceKeeper.restore(
                kept, of: stored.topics, isSameBoot: isSameBoot, to: &trackers, by: messages.clock, at: messages.now)
            effects += carryOut(engine.restore(state, at: messages.now), by: messages)
            effects += carryOut(PresenceKeeper.reconcile(&trackers, with: engine, state), by: messages)
        }
        if case .occupied(let occupancy) = stored.presence { trackers.restore(occupancy) }
        effects += mergeConfiguredRegions(by: messages) + finishClears(by: messages)
        // Its waiting messages are sent, perhaps a second time: this may also be the first gateway on another machine with another name.
        if stored.isCopy {
            let text = "the stored state belongs to another device on other hardware; its presence is ignored"
            effects += [wholePresence(by: messages), .log(LogEntry(.notice, "state", text))]
        }
        return effects
    }

    /// The base topic that a tracker has with other settings: they may name it otherwise, and elsewhere; nil: they do not contain it.
    func topic(of topic: String, in new: [TrackerConfiguration]) -> String? {
        guard let index = trackers.map(\.topics.base).firstIndex(where: { $0.hasSameBytes(as: topic) }) else {
            return nil
        }
        let origins = trackers.origins(of: new, returning: removed.topics)
        return zip(new, origins).first { $1 == index }?.0.topics.base
    }

    /// Replaces the settings.
    ///
    /// - Parameters:
    ///   - former: Those so far.
    ///   - modes: As of `Gateway.Input.configuration`.
    /// - Returns: `newIndices`: the new index of each tracker by its old one; nil: all keep theirs.
    mutating func reconfigure(
        from former: Configuration, modes: [ExactString: MonitoringMode]?, _ served: ServedDevices,
        by messages: Messages
    ) -> (effects: [Gateway.Effect], newIndices: [Int: Int]?) {
        let (settings, now) = (messages.settings, messages.now)
        let (devices, hidden) = (trackers.devices, trackers.hiddenDevices(by: former, at: now))
        let succession = TrackerSuccession(
            of: trackers, from: former, to: settings, modes: modes, removed: &removed, by: messages.clock, at: now)
        trackers = succession.trackers
        if let newIndices = succession.newIndices {
            // A removed tracker gets a unique key. Its leaves are not published.
            engine.rename { RegionKey(tracker: newIndices[$0.tracker] ?? -1 - $0.tracker, rid: $0.rid) }
            transitions.moveTrackers(to: newIndices)
            announcer.moveTrackers(to: newIndices)
        }
        ranging = Ranging(by: settings)
        var effects = succession.stored + removed.keep(succession.gone, setting: settings.monitoring)
        effects += resume(succession.returned, by: messages)
        effects += mergeConfiguredRegions(by: messages, besides: succession.spared)
        effects += trimRemoved(by: settings) + announcer.publish(succession.abandoned, of: trackers, by: messages)
        effects += announcer.announce(trackers, by: messages, isAgain: false, hidden: hidden)
        // These devices are first served here. With the same devices the hardware stays: this may be a copied card.
        if devices != trackers.devices { effects += served.storedHardware }
        return (effects + served.stored(trackers) + [removed.storedTopics], succession.newIndices)
    }

    /// Whoever was inside regions of trackers that return is inside again, without an enter, until silence counts.
    ///
    /// This comes before the regions of the configuration are merged, because that may end an occupancy.
    private mutating func resume(_ returned: [Int], by messages: Messages) -> [Gateway.Effect] {
        let occupied = PresenceKeeper.occupied(by: returned, of: trackers)
        guard !occupied.isEmpty else { return [] }
        let effects = monitor(by: messages)
        return effects + carryOut(engine.resume(occupied: occupied, at: messages.now), by: messages)
    }

    /// Carries out what waits for its turn when the service ends. The next start does not know the regions that were
    /// removed, and so neither their leaves nor their retained states.
    mutating func stop(by messages: Messages) -> [Gateway.Effect] {
        var effects: [Gateway.Effect] = []
        for _ in 0..<Transitions.lastTurns where transitions.due != nil {
            effects += publish(transitions.next(changing: &trackers, by: messages), by: messages)
        }
        effects += announcer.publishLast(of: trackers, by: messages)
        return effects + [wholePresence(by: messages)] + batteries.store(by: messages.clock)
    }

    // MARK: - What is stored

    /// Adds presence to a decision that changes it: the transition's message and the occupancy are stored together or
    /// not at all.
    mutating func withPresence(_ effects: [Gateway.Effect], by clock: WallClock, at now: MonotonicInstant) -> [Gateway
        .Effect]
    {
        let changesPresence = effects.contains { effect in
            switch effect {
            case .record, .regions: true
            default: false
            }
        }
        guard changesPresence else { return effects }
        let update = keeper.update(of: trackers, &engine, sightings: counts.sightings, by: clock, at: now)
        return effects + [.presence(update)]
    }

    private mutating func wholePresence(by messages: Messages) -> Gateway.Effect {
        let whole = keeper.whole(
            of: trackers, &engine, sightings: counts.sightings, by: messages.clock, at: messages.now)
        return .presence(.whole(whole))
    }

    /// What may be stored now, although no region was entered or left.
    mutating func checkpoint(by clock: WallClock, at now: MonotonicInstant) -> [Gateway.Effect] {
        keeper.checkpoint(of: trackers, &engine, sightings: counts.sightings, by: clock, at: now)
            + batteries.store(by: clock)
    }

    /// The stored presence is lost.
    mutating func presenceLost() { keeper.needsWhole() }

    /// Everything of the trackers, because the store has a new file.
    mutating func storeAgain(by settings: Configuration) -> [Gateway.Effect] {
        keeper.needsWhole()
        return trackers.flatMap { $0.stored(settings.monitoring) } + removed.stored
    }

    /// The lists of removed trackers and low batteries, because the store has a new file.
    var storedLists: [Gateway.Effect] { [removed.storedTopics, batteries.storedAgain] }
}
