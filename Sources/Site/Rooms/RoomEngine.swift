package import Base
import Beacon
import Regions
import SiteProtocol

/// Decides in which room each tag is, from what all gateways of a site hear (`Docs/rooms-engine.md`).
///
/// It joins parts, each of which owns its state:
/// - `Hearing` knows the gateways and rooms, `TagPresence` and `Departures` who is at home, `OpenWindows` when a window ends.
/// - A window of a tag becomes an `Observation`; the tag's `Movement` says whether the tag lies still; a `Transition` changes the tag's
///   `Belief`.
/// - `Learning` keeps what people and the engine's own decisions say about the rooms.
///
/// It reads no clock: time comes with each input. The work of an input is proportional to its readings. A window of a tag costs
/// its rooms times their fingerprints, both of which are bounded.
package struct RoomEngine: Sendable {
    /// Largest numbers of gateways and of rooms of a site. A window of a tag costs no more with all of them than with a few: it
    /// looks at the gateways that heard the tag, and at the rooms that these stand in.
    package static let mostGateways = 2000
    package static let mostRooms = 2000
    package static let mostTags = FeedDecoder.mostTags
    package let tuning: RoomTuning
    package private(set) var counters = Counters()
    private(set) var hearing: Hearing
    private(set) var states = Table<TagIndex, Tag>()
    private(set) var presence: TagPresence
    private var departures = Departures()
    private var openWindows = OpenWindows()
    private(set) var observation: Observation
    private var transition: Transition
    private(set) var learning: Learning
    private let mostTags: Int

    /// Limits, which the benchmark exceeds.
    package struct Bounds: Sendable {
        package var gateways = RoomEngine.mostGateways
        package var rooms = RoomEngine.mostRooms
        package var tags = RoomEngine.mostTags
        package init() {}
    }

    package init(tuning: RoomTuning = RoomTuning(), bounds: Bounds = Bounds()) {
        self.tuning = tuning
        mostTags = bounds.tags
        hearing = Hearing(bounds: bounds, tuning.hearing)
        presence = TagPresence(mostTags: bounds.tags)
        observation = Observation(tuning)
        transition = Transition(tuning)
        learning = Learning(tuning)
    }

    /// When `tick` may have something to decide; nil if nothing is pending.
    package var nextDeadline: MonotonicInstant? {
        var next = presence.nextDeadline
        if let end = openWindows.earliestEnd { next = min(next ?? end, end) }
        if let silenceDue = hearing.silenceDue { next = min(next ?? silenceDue, silenceDue) }
        return next
    }

    package var tags: [TagDescription] { states.elements.map(\.description) }

    /// When the latest training run with each tag ends, or ended.
    package var trainingEnds: [MonotonicInstant] { learning.trainingEnds }

    /// Handles one input at `now`, which is never earlier than the previous one.
    package mutating func handle(_ input: Input, at now: MonotonicInstant) -> [Effect] {
        var effects: [Effect] = []
        hearing.begin(at: now)
        // This comes before silences are judged: what nodes sent without a connection, or while this machine was suspended, is lost.
        if case .connected(let isConnected) = input { setConnected(isConnected, at: now, &effects) }
        expire(at: now, &effects)
        switch input {
        case .heard(let gateway, let second): hear(gateway, second, at: now, &effects)
        case .card(let gateway, let room, let isConfigured):
            place(gateway, in: room, isConfigured: isConfigured, at: now, &effects)
        case .telemetry(let node): recordTelemetry(of: node, at: now, &effects)
        case .available(let gateway, let isAvailable): setAvailable(gateway, isAvailable, at: now, &effects)
        case .forget(let gateway):
            if let gateway = hearing.gateway(named: gateway) { forget(gateway, at: now, &effects) }
        case .tags(let tags): replaceTags(by: tags, at: now)
        case .phones(let uuids): setPhones(uuids, at: now, &effects)
        case .learn(let room, let tag, let duration): learn(room, tag, duration, at: now, &effects)
        case .forgetRoom(let room): forget(room)
        case .rename(let room, let new):
            effects.append(.found(RoomRenaming.answer(room, isNow: new, &hearing, &learning, &states, at: now)))
            observation.forgetRoomsWithoutGateway()
        case .moved(let gateway): RoomRenaming.leaves(gateway, &hearing, &learning)
        case .discontinuity:
            hearing.forgetClocks()
            learning.learnRest(hearing.rooms)
        case .connected, .tick: break
        }
        confirmDepartures(at: now, &effects)
        return effects
    }

    // MARK: Readings and windows

    private mutating func hear(
        _ name: String, _ second: HeardSecond, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        counters.messages += 1
        guard let gateway = gatewayIndex(name, at: now, &effects) else { return counters.refused += 1 }
        switch hearing.judge(second, of: gateway, at: now) {
        case .fresh: break
        case .late:
            counters.late += 1
            return
        case .repeated:
            counters.repeated += 1
            return
        }
        if let shared = hearing.detectSharedName(of: gateway, at: now) { effects.append(.found(shared)) }
        guard acquaint(gateway, boot: second.boot, at: now) else {
            counters.unknown += 1
            return
        }
        record(second, of: gateway, at: now, &effects)
        for reading in second.readings {
            counters.readings += 1
            guard let tag = presence.tag(of: reading.beacon) else {
                counters.foreign += 1
                continue
            }
            handle(reading, of: tag, by: gateway, at: now, &effects)
        }
    }

    private mutating func handle(
        _ reading: Reading, of tag: TagIndex, by gateway: GatewayIndex, at now: MonotonicInstant,
        _ effects: inout [Effect]
    ) {
        take(presence.hear(reading, by: gateway, at: now), at: now, &effects)
        guard let level = reading.level, states[tag].isHome || learning.trainedRoom(of: tag) != nil else { return }
        // The level is corrected to that of a tag of -59 dBm. A power that no beacon has is ignored.
        let power = reading.power.flatMap { (-90 ... -40).contains($0) ? $0 : nil } ?? -59
        states[tag].hear(
            HeardLevel(
                gateway: gateway, packets: Int16(clamping: reading.count),
                level: max(-120, min(20, level)) - 59 - power, at: now),
            longestPause: tuning.hearing.longestPauseSeconds, tuning.course)
        let age = max(0, min(Tag.secondNanoseconds, reading.age.nanoseconds))
        let sent = MonotonicInstant(nanoseconds: now.nanoseconds - age)
        if !states[tag].isPending { openWindow(of: tag, ofPacketAt: sent, now: now) }
        states[tag].latestPacket = max(states[tag].latestPacket ?? sent, sent)
        // Once all gateways that heard the tag in the last window have heard it again, there is nothing to wait for.
        if states[tag].isComplete { judge(tag, at: now, &effects) }
    }

    /// - Parameter sent: When the tag sent the packet that opens the window.
    private mutating func openWindow(of tag: TagIndex, ofPacketAt sent: MonotonicInstant, now: MonotonicInstant) {
        states[tag].isPending = true
        let isRare =
            states[tag].latestPacket.map { sent.nanoseconds - $0.nanoseconds > Tag.secondNanoseconds } ?? true
        if isRare {
            openWindows.long.append(tag, until: now.advanced(bySeconds: tuning.hearing.rareGatherSeconds))
        } else {
            openWindows.short.append(tag, until: now.advanced(bySeconds: tuning.hearing.gatherSeconds))
        }
    }

    /// Does what is due at `now`.
    private mutating func expire(at now: MonotonicInstant, _ effects: inout [Effect]) {
        while let tag = openWindows.removeEnded(by: now) {
            guard states.contains(index: tag), states[tag].isPending else { continue }
            judge(tag, at: now, &effects)
            // What arrives at the same instant comes after the window.
            states[tag].judged = MonotonicInstant(nanoseconds: now.nanoseconds - 1)
        }
        silence(at: now, &effects)
        if let deadline = presence.nextDeadline, deadline <= now { take(presence.tick(at: now), at: now, &effects) }
    }

    /// Weighs what was heard of a tag since the last window.
    private mutating func judge(_ tag: TagIndex, at now: MonotonicInstant, _ effects: inout [Effect]) {
        states[tag].isPending = false
        let pause = -tuning.hearing.longestPauseSeconds
        let elapsed = states[tag].judged.map { now.seconds(since: max($0, now.advanced(bySeconds: pause))) } ?? 1
        counters.windows += 1
        observation.gather(&states[tag], hearing.gateways, elapsed: elapsed, at: now)
        states[tag].senseMovement(in: observation.window, hearing.gateways, at: now, tuning)
        observation.chooseRooms(for: &states[tag], hearing.gateways, hearing.rooms, learning.rooms)
        observation.weigh(&states[tag], hearing.gateways, hearing.rooms, learning.rooms)
        states[tag].judged = now
        if let trained = learning.trainedRoom(of: tag) {
            switch learning.train(tag, observation, hearing.gateways, at: now) {
            case .none: break
            case .early: return report(tag, trained, at: now, &effects)
            case .learned(let room, let isFirst):
                if isFirst { observation.forgetRoomsWithoutGateway() }
                states[tag].belief.settle(on: room)
                return report(tag, trained, at: now, &effects)
            }
        }
        guard !observation.rooms.isEmpty else { return }
        transition.advance(&states[tag], observation, learning.rooms, at: now)
        report(tag, nil, at: now, &effects)
        learning.remember(
            tag, observation, states[tag].belief, since: states[tag].since, hearing.gateways, hearing.rooms, at: now)
    }

    /// Reports the room, once it is probable enough for long enough.
    ///
    /// - Parameter trained: The room that is being trained with the tag.
    private mutating func report(
        _ tag: TagIndex, _ trained: RoomIndex?, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        guard states[tag].isHome, let best = states[tag].belief.best, best.room != states[tag].room,
            best.probability >= tuning.report.neededProbability(labelledShare: observation.labelledShare)
        else { return }
        if best.support < tuning.report.readingsToReport {
            guard states[tag].room == nil, trained == nil, observation.isClear(best.room, hearing.gateways) else {
                return
            }
        }
        let from = states[tag].room
        states[tag].room = best.room
        states[tag].since = now
        decide(tag, from: from, confidence: best.probability, &effects)
    }

    // MARK: Home and away

    private mutating func take(_ changes: [TagPresence.Change], at now: MonotonicInstant, _ effects: inout [Effect]) {
        for change in changes {
            switch change {
            case .entered(let tag): if !departures.remove(tag) { setHome(tag, true, at: now, &effects) }
            case .left(let tag, let last): departures.insert(tag, at: now, last: last)
            }
        }
    }

    private mutating func setHome(
        _ tag: TagIndex, _ isHome: Bool, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        guard states.contains(index: tag), states[tag].isHome != isHome else { return }
        let from = states[tag].room
        states[tag].isHome = isHome
        states[tag].room = nil
        states[tag].since = now
        if !isHome {
            learning.learnRest(of: tag, hearing.rooms)
            states[tag].leave()
        }
        decide(tag, from: from, confidence: isHome ? 0 : 1, &effects)
    }

    private mutating func decide(
        _ tag: TagIndex, from: RoomIndex?, confidence: Float, _ effects: inout [Effect]
    ) {
        counters.decisions += 1
        effects.append(
            .decided(
                Decision(
                    tag: tag.position, isHome: states[tag].isHome, from: roomName(from), to: roomName(states[tag].room),
                    confidence: confidence)))
    }

    func roomName(_ room: RoomIndex?) -> RoomName? { room.map { hearing.rooms[$0].name } }

    /// Lets tags leave whose departure is confirmed.
    private mutating func confirmDepartures(at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard !departures.isEmpty, !departures.isInterrupted else { return }
        let confirmed: [(tag: TagIndex, beacon: BeaconID?)]
        switch hearing.confirmation(resumed: departures.resumed) {
        case .unavailable: return
        case .none: confirmed = departures.removeConfirmed(by: nil)
        case .message(let earliest): confirmed = departures.removeConfirmed(by: earliest)
        }
        for (tag, beacon) in confirmed {
            if let beacon, states.contains(index: tag),
                !presence.hasGivenUp(beacon, of: states[tag].description, at: now)
            {
                departures.insert(tag, at: now, last: beacon)
            } else {
                setHome(tag, false, at: now, &effects)
            }
        }
    }

    // MARK: Gateways

    /// The index of a gateway, which is added if it is new; nil if there is no place.
    ///
    /// - Parameter now: nil before the first input.
    private mutating func gatewayIndex(
        _ name: String, at now: MonotonicInstant?, _ effects: inout [Effect]
    ) -> GatewayIndex? {
        if let gateway = hearing.gateway(named: name) { return gateway }
        if let gateway = hearing.addGateway(name) {
            observation.addGateway()
            return gateway
        }
        guard let now else { return nil }
        let idlest = hearing.idlestGateway(at: now)
        if let finding = hearing.findFullGateways(newest: name, at: now) { effects.append(.found(finding)) }
        guard let idlest else { return nil }
        forget(idlest, at: now, &effects)
        hearing.replace(idlest, by: name)
        return idlest
    }

    /// Forgets a gateway and all that it measured. Another gateway may take its place.
    private mutating func forget(_ gateway: GatewayIndex, at now: MonotonicInstant, _ effects: inout [Effect]) {
        setListening(gateway, false, at: now, &effects)
        observation.forgetRoomsWithoutGateway()
        // Nothing was learned from a gateway that did not count.
        guard hearing.forget(gateway) else { return }
        learning.learnRest(hearing.rooms)
        for tag in states.indices { states[tag].forget(gateway) }
        learning.remove(gateway)
    }

    /// Sets the room of a gateway, as the gateway or a person says. What a moved gateway measured is learned again.
    ///
    /// - Parameters:
    ///   - isConfigured: Whether the configuration names the room.
    ///   - now: nil if the room was known before this start.
    private mutating func place(
        _ name: String, in roomName: RoomName, isConfigured: Bool = false, at now: MonotonicInstant? = nil,
        _ effects: inout [Effect]
    ) {
        guard let gateway = gatewayIndex(name, at: now, &effects) else { return counters.refused += 1 }
        hearing.recordCard(of: gateway, isConfigured: isConfigured, at: now)
        if let now { RoomRenaming.follow(gateway, to: roomName, &hearing, &learning, &states, at: now, &effects) }
        guard let room = roomIndex(roomName, at: now, &effects) else { return counters.refused += 1 }
        let (isMoved, former) = hearing.place(gateway, in: room, named: roomName, at: now)
        guard isMoved else { return }
        // A card of a gateway that does not count must not erase anything.
        if let former, hearing.gateways[gateway].isKnown {
            RoomRenaming.move(gateway, from: former, to: room, &hearing, &learning, at: now, &effects)
            forgetRest { $0.levels.contains { $0.gateway == gateway } }
        }
        observation.forgetRoomsWithoutGateway()
    }

    /// What is known about the place of these tags is wrong now.
    private mutating func forgetRest(ofTagsWhere isConcerned: (Tag) -> Bool) {
        for tag in states.indices where isConcerned(states[tag]) { states[tag].forgetRest() }
    }

    /// Records that a message of the gateway arrived, and returns whether its messages count.
    private mutating func acquaint(_ gateway: GatewayIndex, boot: String, at now: MonotonicInstant) -> Bool {
        switch hearing.acquaint(gateway, boot: boot, at: now) {
        case .counts: return true
        case .unknown: return false
        case .countsFromNow:
            learning.welcome(gateway)
            return true
        }
    }

    /// Records a message of the gateway: it is connected, and the message says whether it listens.
    private mutating func record(
        _ second: HeardSecond, of gateway: GatewayIndex, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        endInterruption(at: now)
        if !hearing.gateways[gateway].follows(second, resumed: departures.resumed, at: now) {
            // The message covers one second. What the gateway heard before that is not known.
            let listened = hearing.gateways[gateway].listened + second.listening.nanoseconds
            presence.forgetListening(of: gateway, after: listened, at: now)
        }
        if second.boot.isEmpty { endSilence(ofNode: gateway, at: now) }
        let (finding, isListening) = hearing.record(second, of: gateway, at: now)
        if let finding { effects.append(.found(finding)) }
        setListening(gateway, isListening, at: now, &effects)
        hearing.setListened(gateway, presence.listened(by: gateway, at: now))
        updateSilence(of: gateway)
    }

    /// Records the telemetry of an ESPresense node, which is running and listening. A node that has reported no tag is unknown.
    private mutating func recordTelemetry(
        of name: String, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        guard let gateway = hearing.gateway(named: name), !hearing.gateways[gateway].sendsAlways,
            acquaint(gateway, boot: "", at: now)
        else { return }
        hearing.sign(of: gateway, at: now)
        endInterruption(at: now)
        endSilence(ofNode: gateway, at: now)
        hearing.recordTelemetry(of: gateway, at: now)
        setListening(gateway, true, at: now, &effects)
        hearing.setListened(gateway, presence.listened(by: gateway, at: now))
    }

    /// A message came. After a long silence of all gateways, departures have to be confirmed again.
    private mutating func endInterruption(at now: MonotonicInstant) {
        if hearing.endSilence(at: now) { departures.begin(again: now) }
    }

    /// A node has sent something.
    private mutating func endSilence(ofNode gateway: GatewayIndex, at now: MonotonicInstant) {
        if hearing.gateways[gateway].missedTelemetry(at: now) { forgetListening(of: gateway, at: now) }
        hearing.endWait(forNode: gateway)
    }

    private mutating func setAvailable(
        _ name: String, _ isAvailable: Bool, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        guard let gateway = hearing.gateway(named: name) else { return }
        hearing.setAvailable(gateway, isAvailable)
        // The broker notices late that a node is gone. A node says that it is there when it has connected: it was restarted, or had no connection.
        if !hearing.gateways[gateway].sendsAlways { forgetListening(of: gateway, at: now) }
        if !isAvailable { setListening(gateway, false, at: now, &effects) }
    }

    /// What the gateway heard since its last message is not known, so that time counts as no silence.
    private mutating func forgetListening(of gateway: GatewayIndex, at now: MonotonicInstant) {
        presence.forgetListening(of: gateway, after: hearing.gateways[gateway].listened, at: now)
    }

    private mutating func setListening(
        _ gateway: GatewayIndex, _ isListening: Bool, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        guard hearing.setListening(gateway, isListening, at: now) else { return }
        if let room = hearing.gateways[gateway].room, learning.rooms[room].labelled.count > 0 {
            observation.forgetRoomsWithoutGateway()
        }
        updateSilence(of: gateway)
        take(presence.setListening(gateway, isListening, at: now), at: now, &effects)
    }

    /// Records what the silence of a gateway about a tag says, and when the gateway counts as silent itself.
    private mutating func updateSilence(of gateway: GatewayIndex) {
        observation.setSilence(of: gateway, hearing.gateways[gateway].levelOfSilence(tuning.silence))
        hearing.updateSilence(of: gateway)
    }

    /// Gateways that have sent nothing for too long count as no longer listening.
    private mutating func silence(at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard let due = hearing.silenceDue, due <= now else { return }
        for gateway in hearing.removeSilent(at: now, isInterrupted: departures.isInterrupted) {
            // What it heard while there was no connection is not known. The time of a node has begun again since (`setConnected`).
            let state = hearing.gateways[gateway]
            if state.sendsAlways && departures.wasInterrupted(since: state.lastMessage)
                || state.missedTelemetry(at: now)
            {
                forgetListening(of: gateway, at: now)
            }
            setListening(gateway, false, at: now, &effects)
        }
    }

    /// Records that the connection to the broker was lost or restored. Meanwhile no time of a node counts as silence of tags.
    private mutating func setConnected(_ isConnected: Bool, at now: MonotonicInstant, _ effects: inout [Effect]) {
        departures.setConnected(isConnected, at: now)
        // The next message of an ibeacon-gateway shows by its number that messages were lost. Those of a node have none.
        for gateway in hearing.gateways.indices
        where hearing.gateways[gateway].isListening && !hearing.gateways[gateway].sendsAlways {
            forgetListening(of: gateway, at: now)
            take(presence.setListening(gateway, isConnected, at: now), at: now, &effects)
            guard isConnected else { continue }
            hearing.await(gateway, at: now)
            updateSilence(of: gateway)
        }
    }

    // MARK: Rooms

    /// The index of the room with a form of this name. A new room is added; nil if there is no place.
    ///
    /// - Parameter now: nil before the first input.
    private mutating func roomIndex(
        _ new: RoomName, at now: MonotonicInstant?, _ effects: inout [Effect]
    ) -> RoomIndex? {
        if let room = hearing.roomIndices[new] { return room }
        if let room = hearing.addRoom(new) {
            learning.addRoom()
            return room
        }
        guard let now else { return nil }
        let idle = idlestRoom(at: now)
        if let finding = hearing.findFullRooms(newest: new.name, at: now) { effects.append(.found(finding)) }
        guard let idle else { return nil }
        learning.learnRest(hearing.rooms)
        learning.vacate(idle)
        for tag in states.indices { states[tag].belief.remove(idle) }
        observation.forgetRoomsWithoutGateway()
        hearing.replace(idle, by: new)
        return idle
    }

    /// A room that gives way to a new one: nothing was learned of it, no tag is in it, it is not trained, and it has no gateway
    /// that counts.
    private func idlestRoom(at now: MonotonicInstant) -> RoomIndex? {
        var isTaken = roomsOfTags
        for room in learning.trainedRooms(at: now) { isTaken[room] = true }
        for asked in hearing.gateways.elements.compactMap(\.askedRoom) { isTaken[asked] = true }
        return hearing.idlestRoom { isTaken[$0] || learning.rooms[$0].isLearned }
    }

    /// For each room, whether a tag is in it.
    var roomsOfTags: Table<RoomIndex, Bool> {
        var found = Table<RoomIndex, Bool>([Bool](repeating: false, count: hearing.rooms.count))
        for tag in states.indices { if let room = states[tag].room { found[room] = true } }
        return found
    }

    private mutating func learn(
        _ name: RoomName, _ id: String, _ duration: Duration, at now: MonotonicInstant,
        _ effects: inout [Effect]
    ) {
        guard let tag = states.firstIndex(where: { $0.description.id == id }),
            let room = roomIndex(name, at: now, &effects)
        else {
            counters.refused += 1
            return
        }
        if duration <= .zero {
            learning.endTraining(tag, in: room, at: now)
        } else {
            learning.beginTraining(tag, in: room, for: duration, at: now, hearing.rooms)
        }
    }

    private mutating func forget(_ name: RoomName) {
        guard let room = hearing.roomIndices[idOrName: name] else { return }
        learning.forget(room)
        observation.forgetRoomsWithoutGateway()
        forgetRest { $0.room == room }
    }

    // MARK: Tags

    private mutating func replaceTags(by descriptions: [TagDescription], at now: MonotonicInstant) {
        let old = states
        let known = tagIndices
        var new: [Tag] = []
        new.reserveCapacity(min(descriptions.count, mostTags))
        var ids: Set<String> = []
        var moved: [TagIndex: TagIndex] = [:]
        for description in descriptions.prefix(mostTags) where ids.insert(description.id).inserted {
            var tag = Tag(description)
            if let index = known[description.id], old[index].description.pattern == description.pattern {
                tag = old[index]
                tag.description = description
                tag.isPending = false
                moved[index] = TagIndex(position: new.count)
            }
            new.append(tag)
        }
        states = Table(new)
        learning.move(to: moved, tags: new.count)
        departures.move(to: moved)
        openWindows = OpenWindows()
        presence.replaceTags(by: tags, at: now)
        for tag in states.indices where states[tag].isHome && !presence.isInside(states[tag].description) {
            guard !departures.contains(tag) else { continue }
            states[tag].isHome = false
            states[tag].room = nil
        }
    }

    var tagIndices: [String: TagIndex] {
        Dictionary(states.indices.map { (states[$0].description.id, $0) }) { first, _ in first }
    }

    /// Applies which tags are phones. Any client may write a card that says so, and therefore open windows and learners stay.
    private mutating func setPhones(_ uuids: Set<BeaconUUID>, at now: MonotonicInstant, _ effects: inout [Effect]) {
        var isChanged = false
        for tag in states.indices {
            let isPhone = uuids.contains(states[tag].description.pattern.uuid)
            guard states[tag].description.isPhone != isPhone else { continue }
            states[tag].description.isPhone = isPhone
            isChanged = true
        }
        guard isChanged else { return }
        take(presence.setPhones(of: tags, at: now), at: now, &effects)
    }

    // MARK: After a restart

    /// Restores what was learned. Call it once, before anything else. Entries that do not fit are left out, and so are gateways
    /// that did not count, which come back with their cards, and rooms in which neither a gateway is nor anything was learned.
    package mutating func restore(_ learned: LearnedSite) {
        var ignored: [Effect] = []
        observation.forgetRoomsWithoutGateway()
        let inhabited = Set(learned.gateways.filter(\.isKnown).flatMap { [$0.room, $0.formerRoom] })
        let rooms = learned.rooms.enumerated().map { position, room in
            let isOfUse = !room.labelled.isEmpty || room.own.seconds > 0 || inhabited.contains(position)
            return isOfUse ? roomIndex(room.name, at: nil, &ignored) : nil
        }
        let gateways = learned.gateways.map { $0.isKnown ? gatewayIndex($0.name, at: nil, &ignored) : nil }
        for (gateway, index) in zip(learned.gateways, gateways) {
            guard let index else { continue }
            hearing.restore(index)
            guard let room = gateway.room, learned.rooms.indices.contains(room) else { continue }
            place(gateway.name, in: learned.rooms[room].name, &ignored)
            guard let former = gateway.formerRoom, rooms.indices.contains(former) else { continue }
            hearing.setAskedRoom(rooms[former], of: index)
        }
        for (room, index) in zip(learned.rooms, rooms) {
            if let index { learning.restore(room, as: index, rooms, gateways) }
        }
    }

    /// Continues from what was reported. Set the tags first; call this before anything is heard of these tags.
    ///
    /// A tag that was at home stays at home, in its room, until listening gateways have been silent about it for as long as for
    /// a beacon of which nothing is known.
    package mutating func restore(_ reported: [ReportedTag], at now: MonotonicInstant) {
        var atHome: [(tag: TagDescription, beacon: BeaconID)] = []
        var ignored: [Effect] = []
        let tags = tagIndices
        for report in reported where report.isHome {
            guard let tag = tags[report.id] else { continue }
            states[tag].isHome = true
            // What it showed of its room is learned already. A stored time may be wrong.
            let stay = max(0, min(report.stay.inSeconds, Double(tuning.transition.longestStaySeconds)))
            states[tag].since = now.advanced(by: .seconds(-stay))
            if let name = report.room, let room = roomIndex(name, at: now, &ignored) {
                states[tag].room = room
                states[tag].belief.settle(on: room)
            }
            atHome.append((states[tag].description, presence.standIn(for: tag, in: states)))
        }
        presence.restore(atHome, at: now)
    }
}
