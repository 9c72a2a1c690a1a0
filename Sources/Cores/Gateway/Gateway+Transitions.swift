package import Base
import Beacon
import Configuration
import JSON
package import OwnTracks
import Presence
import Regions

extension Gateway {
    /// Whether an event of a tracker may be published at an instant. The only place that decides it: for transitions and
    /// their repetitions, locations that are due or shared, states, Home Assistant's entities, and readings. An event that is withheld is recorded
    /// nevertheless, if it is a transition.
    package func mayPublish(_ event: PublishedEvent, of tracker: Int, at instant: MonotonicInstant) -> Bool {
        trackers[tracker].monitoring.publishes(event)
    }

    /// Carries out decisions of the presence engine: one turn of them at once, and the others in later turns.
    mutating func carryOut(_ decisions: [PresenceEngine.Effect], at now: MonotonicInstant) -> [Effect] {
        guard !decisions.isEmpty else { return [] }
        var notices: [Effect] = []
        // A closure that calls a function of the gateway would copy the whole gateway first.
        for decision in decisions {
            if case .dropped(let key) = decision {
                if let region = crowdedRegion(key) {
                    notices.append(.log(LogEntry(.warning, "strangers", "\(region)")))
                }
            } else if let transition = pendingTransition(decision, at: now) {
                transitions.add([transition])
            }
        }
        return notices + carryOut(turn: transitions.begin(at: now), at: now)
    }

    mutating func carryOutDueTransitions(at now: MonotonicInstant) -> [Effect] {
        carryOut(turn: transitions.nextIfDue(at: now), at: now)
    }

    /// Carries out what waits for its turn when the service ends. The next start does not know the regions that were
    /// removed, and so neither their leaves nor their retained states.
    ///
    /// The store takes about ten thousand messages and entries of the history in one decision, so there is a limit.
    mutating func carryOutLastTurns(at now: MonotonicInstant) -> [Effect] {
        var effects: [Effect] = []
        for _ in 0..<15 where transitions.due != nil { effects += carryOut(turn: transitions.next(at: now), at: now) }
        // The next start publishes all states.
        announcements.replace { if case .state = $0 { nil } else { $0 } }
        for _ in 0..<8 where announcements.due != nil { effects += publish(turn: announcements.next(at: now), at: now) }
        return effects
    }

    /// Carries out one turn. All its transitions change the trackers before the first message is made, so that each
    /// location shows the state after the turn: a tracker with `away` that leaves its last two regions at once would
    /// otherwise be at the gateway again between the two leaves.
    private mutating func carryOut(turn: [PendingTransition], at now: MonotonicInstant) -> [Effect] {
        for transition in turn { updateTracker(by: transition, at: now) }
        // The transition of a beacon may have moved its tracker across circles.
        let crossings = transitions.begin(at: now)
        for transition in crossings { updateTracker(by: transition, at: now) }
        return (turn + crossings).flatMap { effects(of: $0, at: now) }
    }

    /// Carries out the circle transitions of these trackers after a change of their positions or regions.
    mutating func crossCircles(of positions: some Sequence<Int>, at now: MonotonicInstant) -> [Effect] {
        for position in positions { transitions.add(circleTransitions(of: position, at: now)) }
        return carryOut(turn: transitions.begin(at: now), at: now)
    }

    /// Decides which circles a tracker has entered and left, by comparing the circles around its position with the
    /// previous ones. The leaves come first.
    private mutating func circleTransitions(of position: Int, at now: MonotonicInstant) -> [PendingTransition] {
        let tracker = trackers[position]
        let here = tracker.position(standing: configuration.position)
        let around = here.isKnown ? tracker.regions.regions.filter { $0.contains(here.coordinates) } : []
        let inside = Set(around.map { ExactString($0.rid) })
        guard inside != tracker.decidedCircles else { return [] }
        trackers[position].decidedCircles = inside
        let left = (tracker.former ?? tracker.regions).regions.filter {
            tracker.decidedCircles.contains($0.rid) && !inside.contains($0.rid)
        }
        let entered = around.filter { !tracker.decidedCircles.contains($0.rid) }
        return (left.map { ($0, false) } + entered.map { ($0, true) }).map { region, isEnter in
            PendingTransition(
                key: RegionKey(tracker: position, rid: region.rid), isEnter: isEnter, region: region, beacon: nil,
                rssi: nil, instant: now, leaveReason: nil)
        }
    }

    private func pendingTransition(_ decision: PresenceEngine.Effect, at now: MonotonicInstant) -> PendingTransition? {
        let (key, isEnter, beacon, rssi): (RegionKey, Bool, BeaconID, RSSI?)
        var reason: LeaveReason?
        switch decision {
        case .entered(let region, let sighting):
            (key, isEnter, beacon, rssi) = (region, true, sighting.beacon, sighting.rssi)
        case .left(let region, let last, let because):
            (key, isEnter, beacon, rssi, reason) = (region, false, last, nil, because)
        case .dropped: return nil
        }
        guard trackers.indices.contains(key.tracker) else { return nil }
        let regions = trackers[key.tracker]
        guard let region = (isEnter ? nil : regions.former)?[rid: key.rid] ?? regions.regions[rid: key.rid] else {
            return nil
        }
        return PendingTransition(
            key: key, isEnter: isEnter, region: region, beacon: beacon, rssi: rssi, instant: now, leaveReason: reason)
    }

    /// One transition: its message, the location after it, the retained state, a line of history.
    private mutating func effects(of transition: PendingTransition, at now: MonotonicInstant) -> [Effect] {
        let key = transition.key
        guard trackers.indices.contains(key.tracker) else { return [] }
        let timestamp = wallClock.epochSeconds(at: transition.instant)
        let record = PastTransition(
            tracker: trackers[key.tracker].topics.base, trackerID: trackers[key.tracker].configuration.trackerID,
            rid: key.rid, name: transition.region.displayName, event: transition.isEnter ? .enter : .leave,
            beacon: transition.beacon, rssi: transition.rssi, timestamp: timestamp, stamp: wallClock.stamp,
            happened: transition.instant)
        // A shared location of an earlier second is published before this transition.
        var effects = publishLocation(of: key.tracker, before: timestamp, at: now)
        effects.append(.record(record))
        effects += messages(of: record, by: key.tracker, in: transition.region, at: now)
        let modes = transition.region.monitoringModes
        switchMonitoring(of: key.tracker, to: transition.isEnter ? modes?.onEnter : modes?.onLeave, &effects, at: now)
        return effects
    }

    /// Counts the transition, changes the tracker's occupancy, and decides which circles the tracker crosses by it.
    private mutating func updateTracker(by transition: PendingTransition, at now: MonotonicInstant) {
        let key = transition.key
        guard trackers.indices.contains(key.tracker) else { return }
        totals.count(transition)
        persistence.recordChange(of: key)
        guard let beacon = transition.beacon else {
            trackers[key.tracker].circles[key.rid] =
                transition.isEnter ? OccupancyBegin(since: transition.instant) : nil
            return
        }
        let before = trackers[key.tracker].position(standing: configuration.position)
        trackers[key.tracker].occupancy[key.rid] =
            transition.isEnter
            ? Occupancy(since: transition.instant, beacon: beacon, rssi: transition.rssi) : nil
        // A region that was left because it is removed is not empty since then: it is no more.
        let isEmpty = !transition.isEnter && trackers[key.tracker].regions[rid: key.rid]?.isBeacon == true
        trackers[key.tracker].absences[key.rid] = isEmpty ? OccupancyBegin(since: transition.instant) : nil
        guard trackers[key.tracker].position(standing: configuration.position) != before else { return }
        transitions.add(circleTransitions(of: key.tracker, at: now))
    }

    private mutating func messages(
        of record: PastTransition, by index: Int, in region: Region, at now: MonotonicInstant
    ) -> [Effect] {
        let tracker = trackers[index]
        var effects: [Effect] = []
        if mayPublish(.transition, of: index, at: now) {
            let here = tracker.position(standing: configuration.position)
            let away = record.isEnter ? nil : tracker.configuration.away
            let transition = Transition(
                record.event, of: region, trackerID: tracker.configuration.trackerID,
                position: record.beacon == nil ? here : away ?? configuration.position, timestamp: record.timestamp,
                createdAt: record.timestamp)
            effects.append(
                publish(.transition, of: index, on: tracker.topics.event, transition.payload, at: record.happened))
            effects += location(after: record, of: index, at: now)
        }
        // The state of a region that was removed since is withdrawn, and must not be published again.
        if let present = tracker.regions[rid: region.rid], present.isBeacon {
            effects += state(of: present, tracker: index, at: record.happened)
        } else if region.isBeacon, tracker.former?[rid: region.rid] != nil {
            effects += state(of: region, tracker: index, at: record.happened)
        }
        guard explainsTransitions, let beacon = record.beacon else { return effects }
        let reason = reason(for: beacon, in: RegionKey(tracker: index, rid: record.rid), of: region, at: now)
        effects.append(.log(LogEntry(.debug, "explanation", "\(record.name): \(reason)")))
        return effects
    }

    mutating func switchMonitoring(
        of tracker: Int, to mode: Int?, _ effects: inout [Effect], at now: MonotonicInstant
    ) {
        guard let mode = mode.flatMap(MonitoringMode.init(rawValue:)), trackers[tracker].monitoring != mode else {
            return
        }
        let hidden = hiddenDevices(at: now)
        let wasWithheld = hidesStates(of: tracker, at: now)
        trackers[tracker].monitoring = mode
        effects.append(trackers[tracker].storedMonitoring(configuration.monitoring))
        guard wasWithheld else {
            effects += publish(withdrawalsOfHiddenStates(besides: hidden, at: now), at: now)
            return
        }
        let regions = trackers[tracker].regions.regions.filter(\.isBeacon)
        effects += publish(regions.map { .state(tracker: tracker, rid: $0.rid) }, at: now)
    }

    /// Whether the states of a tracker's regions are withheld, because of its mode or its encryption key: content that
    /// is encrypted on one topic must not be readable on another, unless Home Assistant's discovery is on.
    func hidesStates(of position: Int, at now: MonotonicInstant) -> Bool {
        !mayPublish(.regionState, of: position, at: now)
            || (trackers[position].configuration.encryptionKey != .absent && !configuration.homeAssistant.discovery)
    }

    /// The retained state of one region, for consumers that connect later.
    ///
    /// - Returns: nothing where the states are withheld.
    func state(of region: Region, tracker position: Int, at now: MonotonicInstant) -> [Effect] {
        let tracker = trackers[position]
        guard !hidesStates(of: position, at: now) else { return [] }
        let occupancy = tracker.occupancy[region.rid]
        let begin = occupancy?.begin ?? tracker.absences[region.rid]
        let state = RegionState(
            isInside: occupancy != nil, since: begin?.timestamp(by: wallClock) ?? wallClock.epochSeconds(at: now),
            description: region.displayName, rssi: occupancy?.rssi)
        return [
            publish(
                .state, of: position, on: RegionState.topic(device: tracker.configuration.deviceID, rid: region.rid),
                state.payload, isRetained: true,
                // The state bears the time of the enter or leave, whenever it is published.
                isTimeKnown: begin?.isTimeKnown(by: wallClock), at: begin?.since ?? now)
        ]
    }

    /// A message of a tracker, with the tracker's quality of service.
    ///
    /// - Parameter isTimeKnown: Whether the times in the payload are right; nil: whether the wall clock is known.
    func publish(
        _ kind: Publication.Kind, of tracker: Int, on topic: String, _ payload: JSONValue,
        isRetained: Bool = false, isTimeKnown: Bool? = nil, at now: MonotonicInstant
    ) -> Effect {
        publish(
            kind, of: tracker, on: topic, bytes: payload.bytes, isRetained: isRetained, isTimeKnown: isTimeKnown,
            at: now)
    }

    func publish(
        _ kind: Publication.Kind, of tracker: Int, on topic: String, bytes: [UInt8],
        isRetained: Bool = false, isTimeKnown: Bool? = nil, at now: MonotonicInstant
    ) -> Effect {
        let isTimeKnown = isTimeKnown ?? wallClock.isKnown
        return .publish(
            Publication(
                kind, of: trackers[tracker].topics.base, topic: topic, payload: bytes, qos: configuration.broker.qos,
                isRetained: isRetained, happened: isTimeKnown ? latest : now, stamp: isTimeKnown ? .exact : .provisional
            ))
    }
}
