package import Base
import OwnTracks
import Regions
import Rooms
import SiteProtocol

/// The path of a room change: the engine's decision becomes reports and a visit.
extension Site {
    func epoch(at now: MonotonicInstant) -> Int64 { wallClock.epochSeconds(at: now) }

    /// Passes an input to the engine, and carries out its decisions.
    mutating func pass(_ input: RoomEngine.Input, at now: MonotonicInstant, _ effects: inout [Effect]) {
        for effect in engine.handle(input, at: now) {
            switch effect {
            case .decided(let decision): publish(decision, at: now, &effects)
            case .found(let finding): effects.append(.found(finding))
            }
        }
    }

    /// Makes the reports of one decision, in this order: leave of the old room, enter of the new room, location (where `lat`
    /// and `lon` are set), tag, old room, new room.
    mutating func publish(_ decision: RoomEngine.Decision, at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard isActive, roster.tags.indices.contains(decision.tag) else { return }
        let tag = roster.tags[decision.tag]
        let (from, to, epoch) = (decision.from, decision.to, epoch(at: now))
        unstamped[tag.id] = wallClock.isKnown ? nil : now
        let before = roster.states[decision.tag]
        var state = PublishedTag(
            name: tag.name, room: to, isHome: decision.isHome, since: epoch, confidence: decision.confidence)
        if to == nil { state.lastRoom = from ?? before.room ?? before.lastRoom }
        if !decision.isHome { state.lastHeard = lastHeard(ofTag: decision.tag) }
        roster.adopt(state, ofTag: decision.tag)
        moveVirtualNode(ofTag: decision.tag, from: from ?? before.room, &effects)
        if let from { effects.append(.record(RoomVisit(.ends, tag, from, epoch))) }
        if let to {
            effects.append(.record(RoomVisit(.begins, tag, to, epoch)))
            if wallClock.isKnown { remember(to, epoch, &effects) }
        }
        publishTransitions(of: tag, from: from, to: to, isHome: decision.isHome, epoch, &effects)
        publish(.tag(id: tag.id, roster.states[decision.tag]), &effects)
        for room in [from, to].compactMap(\.self) { publish(.room(id: room.id, roster.state(of: room)), &effects) }
    }

    /// Publishes what OwnTracks is told of a change of rooms: leave of the old room, enter of the new room, location.
    private mutating func publishTransitions(
        of tag: TagIdentity, from: RoomName?, to: RoomName?, isHome: Bool, _ epoch: Int64, _ effects: inout [Effect]
    ) {
        if let from { publish(.transition(tag: tag.id, transition(.leave, from, tag, epoch)), &effects) }
        if let to { publish(.transition(tag: tag.id, transition(.enter, to, tag, epoch)), &effects) }
        guard from != nil || to != nil || !isHome else { return }
        publishLocation(of: tag, in: to, at: epoch, &effects)
    }

    private mutating func publishLocation(
        of tag: TagIdentity, in room: RoomName?, at epoch: Int64, _ effects: inout [Effect]
    ) {
        guard settings.position.isKnown else { return }
        let location = Location(
            .beacon, trackerID: tag.trackerID, position: settings.position, timestamp: epoch, createdAt: epoch,
            inRegions: room.map { [region($0)] } ?? [])
        publish(.location(tag: tag.id, location), &effects)
    }

    /// Publishes the locations once more that belong to these states of tags, each with the time of that decision.
    mutating func publishLocations(of states: [String: PublishedTag], _ effects: inout [Effect]) {
        guard !states.isEmpty else { return }
        for tag in roster.tags {
            guard let state = states[tag.id], unstamped[tag.id] == nil, state.room != nil || !state.isHome else {
                continue
            }
            publishLocation(of: tag, in: state.room, at: state.since, &effects)
        }
    }

    /// When that happened which a report gives a time of day that is not known yet; nil if its time is right, or it has none.
    ///
    /// A state of an earlier run has a right time, although it may be published again before the clock is set.
    package func unstampedInstant(of report: SiteReport, at now: MonotonicInstant) -> MonotonicInstant? {
        guard !wallClock.isKnown else { return nil }
        return switch report {
        case .transition, .location: now
        case .tag(let id, .some): unstamped[id]
        case .tag, .room, .health, .tags, .card, .learn, .nearbyRequest, .entity, .virtualNode: nil
        }
    }

    /// When a gateway last heard the tag, epoch seconds; nil if that is not known.
    private func lastHeard(ofTag position: Int) -> Int64? {
        if let packet = engine.latestPacket(ofTag: position) { return epoch(at: packet) }
        // Without a wall clock all times of a state are shifted later, and this one is right already.
        return wallClock.isKnown ? heardBefore[roster.tags[position].id] : nil
    }

    /// The same of the tags at home, which the next start needs if they go away meanwhile.
    var heard: [String: Int64] {
        guard wallClock.isKnown else { return heardBefore }
        var heard: [String: Int64] = [:]
        for (position, tag) in roster.tags.enumerated() where roster.states[position].isHome {
            heard[tag.id] = lastHeard(ofTag: position)
        }
        return heard
    }

    /// Publishes a report. The state that the broker then retains is recorded; that of a tag is stored, too.
    mutating func publish(_ report: SiteReport, _ effects: inout [Effect]) {
        effects.append(.publish(report))
        switch report {
        case .tag(let id, let state):
            retained.tags.record(id, state.map(Retained.value) ?? .absent)
            effects.append(.store(.tag(id: id, state.map { stored($0, ofTag: id) })))
            if let state { effects.append(.log(.notice, state.sentence)) }
        case .room(let id, let state): retained.rooms.record(id, state.map(Retained.value) ?? .absent)
        default: break
        }
    }

    /// A state as it is stored: without its times while the time of day is not known, because the next run cannot find them.
    func stored(_ state: PublishedTag, ofTag id: String) -> PublishedTag {
        var state = state
        if unstamped[id] != nil { (state.since, state.lastHeard) = (0, nil) }
        return state
    }

    /// A room as a region. `wtst` of its transitions is the time at which a tag first entered it, and never changes. The `rid`
    /// does not depend on that time.
    private func region(_ room: RoomName) -> Region {
        Region(
            rid: derivedRID(name: room.id, timestamp: 0), description: RegionDescription(name: room.name, pattern: nil),
            timestamp: created[room.id] ?? 0)
    }

    private func transition(
        _ event: Transition.Event, _ room: RoomName, _ tag: TagIdentity, _ epoch: Int64
    ) -> Transition {
        Transition(
            event, of: region(room), trackerID: tag.trackerID, position: settings.position, timestamp: epoch,
            createdAt: epoch)
    }

    mutating func remember(_ room: RoomName, _ epoch: Int64, _ effects: inout [Effect]) {
        guard created[room.id] == nil else { return }
        if created.count >= RoomEngine.mostRooms {
            let known = Set(engine.knownRooms.map(\.id))
            created = created.filter { known.contains($0.key) }
        }
        created[room.id] = epoch
        effects.append(.store(.created(created)))
    }

    /// Turns the publishing of decisions on or off. When it is turned on, decisions that differ from the last states published
    /// by another service are published at once. A tag for which this service has not decided yet keeps the state of the other
    /// service.
    mutating func setActive(_ isActive: Bool, at now: MonotonicInstant, _ effects: inout [Effect]) {
        let begins = isActive && !self.isActive
        self.isActive = isActive
        if !isActive {
            setVisits(areOpen: false, at: now, &effects)
            departed = []
        }
        guard begins else { return }
        // One that was added again enters after its leave.
        let left = Set(departed.map(\.tag.id))
        for (tag, room) in departed {
            publishTransitions(of: tag, from: room, to: nil, isHome: false, epoch(at: now), &effects)
        }
        departed = []
        virtualNodes?.due = now
        engine.adopt(roster.reported(heard: [:]), at: now)
        var changes: [RoomEngine.Decision] = []
        for (position, state) in roster.states.enumerated() {
            let decided = engine.decided(ofTag: position)
            let isOther = decided.isHome != state.isHome || decided.room?.id != state.room?.id
            // Where nothing was stored of a tag that is away, the retained state says where it was last.
            guard isOther || (state.since == 0 && !state.isHome) else { continue }
            let id = roster.tags[position].id
            // A retained state is not believed. If it says what this service has decided itself, there is nothing new.
            if !left.contains(id), var kept = retained.tags.value(of: id), kept.isHome == decided.isHome,
                kept.room?.id == decided.room?.id
            {
                let epoch = epoch(at: now)
                // A clock that is not set is behind all times that another service gave.
                if kept.since <= 0 || (wallClock.isKnown && kept.since > epoch) { kept.since = epoch }
                roster.adopt(kept, ofTag: position)
                effects.append(.store(.tag(id: id, kept)))
                continue
            }
            guard isOther else { continue }
            changes.append(
                RoomEngine.Decision(
                    tag: position, isHome: decided.isHome, from: state.room, to: decided.room, confidence: 1))
        }
        setVisits(areOpen: true, at: now, &effects)
        for decision in changes { publish(decision, at: now, &effects) }
    }

    /// Ends the visits of the history when another service has become active, which keeps them in its own history, and begins them
    /// when this one has.
    private mutating func setVisits(areOpen: Bool, at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard areOpen != hasOpenVisits else { return }
        hasOpenVisits = areOpen
        effects.append(.store(.openVisits(areOpen)))
        for (tag, state) in zip(roster.tags, roster.states) {
            guard let room = state.room else { continue }
            effects.append(.record(RoomVisit(areOpen ? .begins : .ends, tag, room, epoch(at: now))))
        }
    }
}

extension TagIdentity {
    fileprivate var trackerID: String { id.suffix(2).uppercased() }
}

extension PublishedTag {
    /// The line for the log.
    fileprivate var sentence: String {
        guard isHome else { return "\(name) is away" }
        return room.map { "\(name) is in \($0.name)" } ?? "\(name) is at home"
    }
}
