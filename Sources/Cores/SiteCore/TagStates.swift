import Base
import OwnTracks
import Regions
import Rooms
package import SiteProtocol

/// Where each tag is, since when, and when it was last heard.
///
/// It makes what is published, stored and written into the history of a tag. It owns the roster, so that no state changes without its
/// time. It does not know whether it may publish: the site asks it only while its service is active.
package struct TagStates: Sendable {
    package private(set) var roster = TagRoster()
    /// The position in transitions and locations.
    private let geographic: Position
    /// When a tag first entered each room, by the room's id. As a region, the room was created then.
    private var created: [String: Int64] = [:]
    /// When the states that have no time of day yet were decided, by the tag's id.
    private var unstamped: [String: MonotonicInstant] = [:]
    /// When tags were last heard before this start, epoch seconds, by the tag's id.
    private var heardBefore: [String: Int64] = [:]
    /// Tags at home that were removed before it was known whether another service is active, with their rooms. If none is, their
    /// leaves are published then. A service that ends before that does not publish them.
    private var departed: [(tag: TagIdentity, room: RoomName?)] = []
    /// Whether the visits of the history go on. While another service is active, their ends are not known here.
    private var hasOpenVisits = true
    private var round = StateRound()

    /// What the engine decided about a tag.
    struct Move {
        /// The tag's index in the roster.
        let index: Int
        let tag: TagIdentity
        let from: RoomName?
        let to: RoomName?
        let isHome: Bool
        /// The room that it left, also if another service published that.
        let left: RoomName?
    }

    init(_ settings: SiteSettings) { geographic = settings.position }

    // MARK: - Start and store

    mutating func restore(_ stored: StoredSite) {
        (created, heardBefore, hasOpenVisits) = (stored.created, stored.heard, stored.hasOpenVisits)
    }

    /// Takes over the stored states of the tags in force, by their ids.
    mutating func adopt(stored states: [String: PublishedTag], _ clock: WallClock, at now: MonotonicInstant) {
        for (index, tag) in roster.tags.enumerated() {
            guard var state = states[tag.id] else { continue }
            if state.isHome, state.since <= 0 {
                // It was decided before the clock was set, and the clock was set after the end of that run, if at all.
                state.since = clock.epochSeconds(at: now)
                if !clock.isKnown { unstamped[tag.id] = now }
            }
            roster.adopt(state, ofTag: index)
        }
    }

    /// The states of all tags, to be stored.
    var storedStates: [Site.Effect] {
        zip(roster.tags, roster.states).map { .store(.tag(id: $0.id, stored($1, ofTag: $0.id))) }
    }

    var storedRooms: Site.Effect { .store(.created(created)) }

    var storedVisits: Site.Effect { .store(.openVisits(hasOpenVisits)) }

    /// A state as it is stored: without its times while the time of day is not known, because the next run cannot find them.
    private func stored(_ state: PublishedTag, ofTag id: String) -> PublishedTag {
        var state = state
        if unstamped[id] != nil { (state.since, state.lastHeard) = (0, nil) }
        return state
    }

    // MARK: - Tags

    /// Replaces the tags. A tag that stays keeps its state.
    mutating func replace(by tags: [TagIdentity]) {
        roster.replace(by: tags)
        round.beginAgain()
    }

    /// The leaves of the tags that are removed, and of those whose beacon changes: the room of the new beacon is not known.
    func leaves(by tags: [TagIdentity]) -> [RoomEngine.Decision] {
        let patterns = Dictionary(tags.map { ($0.id, $0.pattern) }) { first, _ in first }
        return roster.tags.indices.filter {
            roster.states[$0].isHome && patterns[roster.tags[$0].id] != roster.tags[$0].pattern
        }.map { .init(tag: $0, isHome: false, from: roster.states[$0].room, to: nil, confidence: 1) }
    }

    /// Drops the states of tags that are gone.
    ///
    /// - Parameters:
    ///   - old: The tags before.
    ///   - isActive: Whether this is published.
    ///   - mayLeave: Whether the leaves are published if no other service turns out to be active.
    mutating func drop(
        _ old: TagRoster, isActive: Bool, mayLeave: Bool, at epoch: Int64, _ effects: inout [Site.Effect]
    ) {
        let left = Set(roster.tags.map(\.id))
        for (tag, state) in zip(old.tags, old.states) where !left.contains(tag.id) {
            (unstamped[tag.id], heardBefore[tag.id]) = (nil, nil)
            if hasOpenVisits, let room = state.room { effects.append(.record(RoomVisit(.ends, tag, room, epoch))) }
            if isActive {
                publish(nil, ofTag: tag.id, &effects)
            } else {
                effects.append(.store(.tag(id: tag.id, nil)))
                if mayLeave, state.isHome { departed.append((tag, state.room)) }
            }
        }
    }

    mutating func set(floors: SiteFloors) { roster.floors = floors }

    /// Adopts other spellings of the rooms' names.
    ///
    /// - Returns: Whether the state of a tag changed.
    mutating func rename(to rooms: [RoomName]) -> Bool { roster.rename(to: rooms) }

    // MARK: - Times

    /// States that were decided before the wall clock was known get their times, as the store gives them to the messages
    /// that wait.
    mutating func stamp(_ clock: WallClock, _ engine: RoomEngine, _ effects: inout [Site.Effect]) {
        for (index, tag) in roster.tags.enumerated() {
            guard let decided = unstamped[tag.id] else { continue }
            var state = roster.states[index]
            let since = clock.epochSeconds(at: decided)
            // A state may be forged, with any times.
            state.lastHeard? &+= since &- state.since
            state.since = since
            roster.adopt(state, ofTag: index)
            effects.append(.store(.tag(id: tag.id, state)))
            if let room = state.room { remember(room, state.since, engine, &effects) }
        }
        unstamped = [:]
    }

    /// When the event of a publication happened, if its time of day is not known yet; nil if it has the right time, or none.
    ///
    /// A state of an earlier run has a right time, although it may be published again before the clock is set.
    func unstampedInstant(of publication: SitePublication, _ clock: WallClock, at now: MonotonicInstant)
        -> MonotonicInstant?
    {
        guard !clock.isKnown else { return nil }
        return switch publication {
        case .transition, .location: now
        case .tag(let id, .some): unstamped[id]
        case .tag, .room, .health, .tags, .card, .cardRemoved, .learn: nil
        case .refused, .answer, .nearbyRequest, .entity, .virtualNode: nil
        }
    }

    /// When a gateway last heard the tag, epoch seconds; nil if that is not known.
    private func lastHeard(ofTag index: Int, _ engine: RoomEngine, _ clock: WallClock) -> Int64? {
        if let packet = engine.latestPacket(ofTag: index) { return clock.epochSeconds(at: packet) }
        // Without a wall clock all times of a state are shifted later, and this one is right already.
        return clock.isKnown ? heardBefore[roster.tags[index].id] : nil
    }

    /// When each tag at home was last heard, to be stored: the next start needs it if they go away meanwhile.
    func storedTimes(_ engine: RoomEngine, _ clock: WallClock) -> Site.Effect {
        guard clock.isKnown else { return .store(.heard(heardBefore)) }
        var heard: [String: Int64] = [:]
        for (index, tag) in roster.tags.enumerated() where roster.states[index].isHome {
            heard[tag.id] = lastHeard(ofTag: index, engine, clock)
        }
        return .store(.heard(heard))
    }

    private mutating func remember(
        _ room: RoomName, _ epoch: Int64, _ engine: RoomEngine, _ effects: inout [Site.Effect]
    ) {
        guard created[room.id] == nil else { return }
        if created.count >= RoomEngine.mostRooms {
            let known = Set(engine.knownRooms.map(\.id))
            created = created.filter { known.contains($0.key) }
        }
        created[room.id] = epoch
        effects.append(storedRooms)
    }

    // MARK: - Decisions

    /// Takes over a decision of the engine. `report` says it.
    ///
    /// - Returns: nil if there is no such tag.
    mutating func take(
        _ decision: RoomEngine.Decision, _ engine: RoomEngine, _ clock: WallClock, at now: MonotonicInstant
    ) -> Move? {
        guard roster.tags.indices.contains(decision.tag) else { return nil }
        let tag = roster.tags[decision.tag]
        let before = roster.states[decision.tag]
        unstamped[tag.id] = clock.isKnown ? nil : now
        var state = PublishedTag(
            name: tag.name, room: decision.to, isHome: decision.isHome, since: clock.epochSeconds(at: now),
            confidence: decision.confidence)
        if decision.to == nil { state.lastRoom = decision.from ?? before.room ?? before.lastRoom }
        if !decision.isHome { state.lastHeard = lastHeard(ofTag: decision.tag, engine, clock) }
        state.lowBattery = before.lowBattery
        roster.adopt(state, ofTag: decision.tag)
        return Move(
            index: decision.tag, tag: tag, from: decision.from, to: decision.to, isHome: decision.isHome,
            left: decision.from ?? before.room)
    }

    /// Makes the visits and the reports of one decision, in this order: leave of the old room, enter of the new room, location
    /// (where `lat` and `lon` are set), tag, old room, new room.
    mutating func report(
        _ move: Move, _ engine: RoomEngine, _ clock: WallClock, at now: MonotonicInstant,
        _ effects: inout [Site.Effect]
    ) {
        let epoch = clock.epochSeconds(at: now)
        if let from = move.from { effects.append(.record(RoomVisit(.ends, move.tag, from, epoch))) }
        if let to = move.to {
            effects.append(.record(RoomVisit(.begins, move.tag, to, epoch)))
            if clock.isKnown { remember(to, epoch, engine, &effects) }
        }
        reportTransitions(of: move.tag, from: move.from, to: move.to, isHome: move.isHome, epoch, &effects)
        publish(roster.states[move.index], ofTag: move.tag.id, &effects)
        for room in [move.from, move.to].compactMap(\.self) {
            effects.append(.publish(.room(id: room.id, roster.state(of: room))))
        }
    }

    /// Publishes what OwnTracks is told of a change of rooms: leave of the old room, enter of the new room, location.
    private func reportTransitions(
        of tag: TagIdentity, from: RoomName?, to: RoomName?, isHome: Bool, _ epoch: Int64,
        _ effects: inout [Site.Effect]
    ) {
        for (event, room) in [(Transition.Event.leave, from), (.enter, to)] {
            guard let room else { continue }
            let transition = Transition(
                event, of: region(room), trackerID: tag.trackerID, position: geographic, timestamp: epoch,
                createdAt: epoch)
            effects.append(.publish(.transition(tag: tag.id, transition)))
        }
        guard from != nil || to != nil || !isHome else { return }
        reportLocation(of: tag, in: to, at: epoch, &effects)
    }

    private func reportLocation(
        of tag: TagIdentity, in room: RoomName?, at epoch: Int64, _ effects: inout [Site.Effect]
    ) {
        guard geographic.isKnown else { return }
        let location = Location(
            .beacon, trackerID: tag.trackerID, position: geographic, timestamp: epoch, createdAt: epoch,
            inRegions: room.map { [region($0)] } ?? [])
        effects.append(.publish(.location(tag: tag.id, location)))
    }

    /// Publishes once more the locations that belong to these states of tags, each with the time of its decision.
    func reportLocations(of states: [String: PublishedTag], _ effects: inout [Site.Effect]) {
        guard !states.isEmpty else { return }
        for tag in roster.tags {
            guard let state = states[tag.id], unstamped[tag.id] == nil, state.room != nil || !state.isHome else {
                continue
            }
            reportLocation(of: tag, in: state.room, at: state.since, &effects)
        }
    }

    /// A room as a region. `wtst` of its transitions is the time at which a tag first entered it, and never changes. The `rid`
    /// does not depend on that time.
    private func region(_ room: RoomName) -> Region {
        Region(
            rid: derivedRID(name: room.id, timestamp: 0), description: RegionDescription(name: room.name, pattern: nil),
            timestamp: created[room.id] ?? 0)
    }

    // MARK: - States at the broker

    /// Publishes the state of a tag, and stores it; nil: the tag is gone.
    ///
    /// - Parameter isLogged: Whether the log says where the tag is.
    func publish(_ state: PublishedTag?, ofTag id: String, isLogged: Bool = true, _ effects: inout [Site.Effect]) {
        effects += [.publish(.tag(id: id, state)), .store(.tag(id: id, state.map { stored($0, ofTag: id) }))]
        if isLogged, let state { effects.append(.log(.notice, state.sentence)) }
    }

    /// The states of tags that the broker should retain; nil if none was published yet.
    package var retained: [(id: String, value: PublishedTag?)] {
        zip(roster.tags, roster.states).map { ($0.id, $1.since == 0 ? nil : $1) }
    }

    /// The states of these rooms that the broker should retain.
    package func retained(_ rooms: [RoomName]) -> [(id: String, value: PublishedRoom?)] {
        rooms.map { ($0.id, roster.state(of: $0)) }
    }

    /// Publishes that a tag without a known state is away.
    mutating func publishUnheard(
        _ index: Int, _ clock: WallClock, at now: MonotonicInstant, _ effects: inout [Site.Effect]
    ) {
        let tag = roster.tags[index]
        unstamped[tag.id] = clock.isKnown ? nil : now
        roster.adopt(PublishedTag(name: tag.name, since: clock.epochSeconds(at: now)), ofTag: index)
        publish(roster.states[index], ofTag: tag.id, &effects)
    }

    /// Takes over what a tag said of its battery.
    mutating func record(
        battery percent: UInt8, ofTag index: Int, at now: MonotonicInstant, _ effects: inout [Site.Effect]
    ) {
        guard roster.record(battery: percent, ofTag: index, at: now, &effects) else { return }
        publish(roster.states[index], ofTag: roster.tags[index].id, isLogged: false, &effects)
    }

    // MARK: - Other services

    /// Takes over what the active service decided about a tag.
    ///
    /// - Parameter isStored: A service that has stored anything is believed to have a list of tags at its next start.
    mutating func adopt(
        _ state: PublishedTag, ofTag index: Int, isStored: Bool, _ engine: RoomEngine,
        _ effects: inout [Site.Effect]
    ) {
        let id = roster.tags[index].id
        roster.adopt(state, ofTag: index)
        // Its times are those of the other service.
        unstamped[id] = nil
        guard isStored else { return }
        effects.append(.store(.tag(id: id, roster.states[index])))
        if let room = state.room, state.since > 0 { remember(room, state.since, engine, &effects) }
    }

    /// Another service is active: it keeps the visits in its own history.
    mutating func yield(at epoch: Int64, _ effects: inout [Site.Effect]) {
        setVisits(areOpen: false, at: epoch, &effects)
        departed = []
    }

    /// This service is active: what differs from the states that another service published last is to be published. A tag about
    /// which this engine has not decided yet keeps the state of the other service.
    ///
    /// - Parameter broker: The states that the broker retains.
    /// - Returns: The decisions to be published.
    mutating func takeOver(
        _ engine: RoomEngine, _ broker: RetainedStates<PublishedTag>, _ clock: WallClock, at now: MonotonicInstant,
        _ effects: inout [Site.Effect]
    ) -> [RoomEngine.Decision] {
        let epoch = clock.epochSeconds(at: now)
        // One that was added again enters after its leave.
        let left = Set(departed.map(\.tag.id))
        for (tag, room) in departed {
            reportTransitions(of: tag, from: room, to: nil, isHome: false, epoch, &effects)
        }
        departed = []
        var changes: [RoomEngine.Decision] = []
        for (index, state) in roster.states.enumerated() {
            let decided = engine.decided(ofTag: index)
            let isOther = decided.isHome != state.isHome || decided.room?.id != state.room?.id
            // Where nothing was stored of a tag that is away, the retained state says where it was last.
            guard isOther || (state.since == 0 && !state.isHome) else { continue }
            let id = roster.tags[index].id
            // A retained state is not believed. If it says what this service has decided itself, there is nothing new.
            if !left.contains(id), var kept = broker.value(of: id), kept.isHome == decided.isHome,
                kept.room?.id == decided.room?.id
            {
                // A clock that is not set is behind all times that another service gave.
                if kept.since <= 0 || (clock.isKnown && kept.since > epoch) { kept.since = epoch }
                roster.adopt(kept, ofTag: index)
                effects.append(.store(.tag(id: id, kept)))
                continue
            }
            guard isOther else { continue }
            changes.append(
                RoomEngine.Decision(
                    tag: index, isHome: decided.isHome, from: state.room, to: decided.room, confidence: 1))
        }
        setVisits(areOpen: true, at: epoch, &effects)
        return changes
    }

    /// Ends the visits of the history when another service, which keeps them in its own history, has become active, and begins
    /// them when this one has.
    private mutating func setVisits(areOpen: Bool, at epoch: Int64, _ effects: inout [Site.Effect]) {
        guard areOpen != hasOpenVisits else { return }
        hasOpenVisits = areOpen
        effects.append(storedVisits)
        for (tag, state) in zip(roster.tags, roster.states) {
            guard let room = state.room else { continue }
            effects.append(.record(RoomVisit(areOpen ? .begins : .ends, tag, room, epoch)))
        }
    }

    // MARK: - A round for a service that has appeared

    /// When the next part of the round is due; nil without a round.
    var due: MonotonicInstant? { round.due }

    /// Another service has appeared, which needs the states.
    mutating func beginRound(at now: MonotonicInstant) { round.want(at: now) }

    /// Sends the states that are due.
    ///
    /// - Parameter isHeard: Whether this service is active and has a connection; else the round ends.
    mutating func sendRound(isHeard: Bool, at now: MonotonicInstant, _ effects: inout [Site.Effect]) {
        guard let due, due <= now else { return }
        guard isHeard else { return round.end() }
        for index in round.part(of: roster.tags.count, at: now) {
            let (id, state) = (roster.tags[index].id, roster.states[index])
            // A state without its time of day is published when that is known.
            guard state.since != 0, unstamped[id] == nil else { continue }
            effects.append(.send(.tag(id: id, state)))
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
