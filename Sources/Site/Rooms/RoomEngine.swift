package import Base
package import Beacon
import Regions
import SiteProtocol

/// Decides in which room each tag is, from what all gateways of a site hear (`Docs/rooms-engine.md`).
///
/// It passes each input to the parts that it concerns, and what one part says to the next. Each part owns its state:
/// - `SitePlan` knows the gateways and rooms (`Hearing`) and what was learned of them (`Learning`).
/// - `Tags` knows the tags and when a window of each ends, `Attendance` which of them are at home.
/// - `Judgement` makes a window of a tag an `Observation`, the tag's `Movement` says whether the tag lies still, and a `Transition` changes
///   the tag's `Belief`.
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
    package private(set) var plan: SitePlan
    private(set) var states: Tags
    private(set) var attendance: Attendance
    private(set) var judgement: Judgement

    package init(tuning: RoomTuning = RoomTuning(), bounds: Bounds = Bounds()) {
        self.tuning = tuning
        plan = SitePlan(tuning, bounds: bounds)
        states = Tags(most: bounds.tags, tuning.hearing)
        attendance = Attendance(mostTags: bounds.tags)
        judgement = Judgement(tuning)
    }

    /// When `tick` may have something to decide; nil if nothing is pending.
    package var nextDeadline: MonotonicInstant? {
        var next = attendance.nextDeadline
        if let end = states.earliestEnd { next = min(next ?? end, end) }
        if let silenceDue = plan.hearing.silenceDue { next = min(next ?? silenceDue, silenceDue) }
        return next
    }

    /// Handles one input at `now`, which is never earlier than the previous one.
    package mutating func handle(_ input: Input, at now: MonotonicInstant) -> [Effect] {
        var effects: [Effect] = []
        plan.hearing.begin(at: now)
        // This comes before silences are judged: what nodes sent without a connection, or while this machine was suspended, is lost.
        if case .connected(let isConnected) = input {
            welcome(attendance.setConnected(isConnected, &plan.hearing, at: now), at: now, &effects)
        }
        expire(at: now, &effects)
        switch input {
        case .heard(let gateway, let second): hear(gateway, second, at: now, &effects)
        case .card(let gateway, let room, let isConfigured):
            place(gateway, in: room, isConfigured: isConfigured, at: now, &effects)
        case .telemetry(let node): recordTelemetry(of: node, at: now, &effects)
        case .available(let gateway, let isAvailable): setAvailable(gateway, isAvailable, at: now, &effects)
        case .forget(let gateway):
            if let gateway = plan.hearing.gateway(named: gateway) { forget(gateway, at: now, &effects) }
        case .tags(let tags): replaceTags(by: tags, at: now)
        case .phones(let uuids): setPhones(uuids, at: now, &effects)
        case .learn(let room, let tag, let duration): learn(room, tag, duration, at: now, &effects)
        case .forgetRoom(let room): plan.forget(room, &states)
        case .rename(let room, let new): effects.append(.found(plan.rename(room, to: new, &states, at: now)))
        case .moved(let gateway): plan.recordMove(of: gateway)
        case .offsets(let offsets): plan.hearing.setOffsets(offsets)
        case .levels(let levels): plan.take(levels)
        case .floors(let floors): plan.tell(floors)
        case .discontinuity: plan.endRecording()
        case .connected, .tick: break
        }
        // Asked first, because an argument may be copied for the call.
        guard attendance.hasDepartures else { return effects }
        for tag in attendance.removeConfirmed(states, plan.hearing, at: now) {
            setHome(tag, false, at: now, &effects)
        }
        return effects
    }

    // MARK: Readings and windows

    private mutating func hear(
        _ name: String, _ second: HeardSecond, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        counters.messages += 1
        guard let gateway = gatewayIndex(name, at: now, &effects) else { return counters.refused += 1 }
        switch plan.hearing.judge(second, of: gateway, at: now) {
        case .fresh: break
        case .late:
            counters.late += 1
            return
        case .repeated:
            counters.repeated += 1
            return
        }
        if let shared = plan.hearing.detectSharedName(of: gateway, at: now) { effects.append(.found(shared)) }
        guard plan.acquaint(gateway, startID: second.startID, at: now) else {
            counters.unknown += 1
            return
        }
        let wasNode = plan.hearing.gateways[gateway].isNode
        let (finding, change) = attendance.record(second, of: gateway, &plan.hearing, at: now)
        if wasNode != plan.hearing.gateways[gateway].isNode { plan.setListeningChanged(of: gateway) }
        if let finding { effects.append(.found(finding)) }
        apply(change, of: gateway, at: now, &effects)
        for reading in second.readings {
            counters.readings += 1
            guard let tag = attendance.tag(of: reading.beacon) else {
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
        welcome(attendance.hear(reading, by: gateway, at: now), at: now, &effects)
        guard let level = reading.level, states[tag].isHome || plan.learning.trainedRoom(of: tag) != nil else { return }
        // The level is corrected to that of a tag of -59 dBm. A power that no beacon has is ignored.
        let power = reading.power.flatMap { (-90 ... -40).contains($0) ? $0 : nil } ?? -59
        states[tag].hear(
            HeardLevel(
                gateway: gateway, packets: Int16(clamping: reading.count),
                level: max(-120, min(20, level)) - 59 - power, at: now),
            longestPause: tuning.hearing.longestPauseSeconds, tuning.course)
        let age = max(0, min(Tag.secondNanoseconds, reading.age.nanoseconds))
        states.recordPacket(of: tag, sent: MonotonicInstant(nanoseconds: now.nanoseconds - age), now: now)
        // Once all gateways that heard the tag in the last window have heard it again, there is nothing to wait for.
        if states[tag].isComplete { judge(tag, at: now, &effects) }
    }

    /// Does what is due at `now`.
    private mutating func expire(at now: MonotonicInstant, _ effects: inout [Effect]) {
        while let tag = states.removeEndedWindow(by: now) {
            judge(tag, at: now, &effects)
            // What arrives at the same instant comes after the window.
            states[tag].judged = MonotonicInstant(nanoseconds: now.nanoseconds - 1)
        }
        if let due = plan.hearing.silenceDue, due <= now {
            for (gateway, change) in attendance.endListening(&plan.hearing, at: now) {
                apply(change, of: gateway, at: now, &effects)
            }
        }
        welcome(attendance.tick(at: now), at: now, &effects)
    }

    /// Weighs what was heard of a tag since the last window.
    private mutating func judge(_ tag: TagIndex, at now: MonotonicInstant, _ effects: inout [Effect]) {
        states[tag].isPending = false
        counters.windows += 1
        judgement.observe(
            &states[tag], plan.hearing.gateways, plan.hearing.rooms, plan.learning.rooms,
            trained: plan.findRoomsWithoutGateway(), at: now)
        if let trained = plan.learning.trainedRoom(of: tag) {
            switch plan.train(tag, judgement.observation, at: now) {
            case .none: break
            case .early: return report(tag, trained, at: now, &effects)
            case .learned(let room, _):
                states[tag].belief.settle(on: room)
                return report(tag, trained, at: now, &effects)
            }
        }
        guard !judgement.observation.rooms.isEmpty else { return }
        plan.arrangeFloors()
        judgement.advance(&states[tag], plan.learning.rooms, plan.floors.places, plan.hearing.gateways, at: now)
        report(tag, nil, at: now, &effects)
        plan.learning.remember(
            tag, judgement.observation, states[tag].belief, since: states[tag].since, plan.hearing.gateways,
            plan.hearing.rooms, at: now)
    }

    /// Reports the room, if it is a new one.
    ///
    /// - Parameter trained: The room that is being trained with the tag.
    private mutating func report(
        _ tag: TagIndex, _ trained: RoomIndex?, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        guard let new = judgement.newRoom(of: &states[tag], isTrained: trained != nil, plan.hearing.gateways) else {
            return
        }
        let from = states[tag].room
        states[tag].room = new.room
        states[tag].since = now
        if let finding = plan.findFloorChange(of: states[tag], from: from, at: now) { effects.append(.found(finding)) }
        decide(tag, from: from, confidence: new.probability, &effects)
    }

    // MARK: Home and away

    /// These tags came home.
    private mutating func welcome(_ tags: [TagIndex], at now: MonotonicInstant, _ effects: inout [Effect]) {
        for tag in tags { setHome(tag, true, at: now, &effects) }
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
            plan.learning.learnRest(of: tag, plan.hearing.rooms)
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
                    tag: tag.number, isHome: states[tag].isHome, from: plan.name(of: from),
                    to: plan.name(of: states[tag].room), confidence: confidence)))
    }

    // MARK: Gateways

    /// The index of a gateway, which is added if it is new; nil if there is no place.
    ///
    /// - Parameter now: nil before the first input.
    private mutating func gatewayIndex(
        _ name: String, at now: MonotonicInstant?, _ effects: inout [Effect]
    ) -> GatewayIndex? {
        if let gateway = plan.hearing.gateway(named: name) { return gateway }
        if let gateway = plan.addGateway(name) {
            judgement.addGateway()
            return gateway
        }
        guard let now else { return nil }
        let idlest = plan.hearing.idlestGateway(at: now)
        if let finding = plan.hearing.findFullGateways(newest: name, at: now) { effects.append(.found(finding)) }
        guard let idlest else { return nil }
        forget(idlest, at: now, &effects)
        plan.hearing.replace(idlest, by: name)
        return idlest
    }

    /// Forgets a gateway and all that it measured. Another gateway may take its place.
    private mutating func forget(_ gateway: GatewayIndex, at now: MonotonicInstant, _ effects: inout [Effect]) {
        apply(attendance.setListening(gateway, false, &plan.hearing, at: now), of: gateway, at: now, &effects)
        plan.forget(gateway, &states)
    }

    private mutating func place(
        _ name: String, in room: RoomName, isConfigured: Bool, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        guard let gateway = gatewayIndex(name, at: now, &effects),
            plan.place(gateway, in: room, isConfigured: isConfigured, &states, at: now, &effects)
        else { return counters.refused += 1 }
    }

    /// Records the telemetry of an ESPresense node. A node that has reported no tag is unknown.
    private mutating func recordTelemetry(
        of name: String, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        guard let gateway = plan.hearing.gateway(named: name), !plan.hearing.gateways[gateway].sendsAlways,
            plan.acquaint(gateway, startID: "", at: now)
        else { return }
        apply(attendance.recordTelemetry(of: gateway, &plan.hearing, at: now), of: gateway, at: now, &effects)
    }

    private mutating func setAvailable(
        _ name: String, _ isAvailable: Bool, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        guard let gateway = plan.hearing.gateway(named: name) else { return }
        apply(attendance.setAvailable(gateway, isAvailable, &plan.hearing, at: now), of: gateway, at: now, &effects)
    }

    /// Carries out what an input changed about a gateway.
    private mutating func apply(
        _ change: Attendance.Change, of gateway: GatewayIndex, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        if change.isListeningChanged { plan.setListeningChanged(of: gateway) }
        judgement.setSilence(of: gateway, plan.hearing.gateways[gateway])
        welcome(change.arrived, at: now, &effects)
    }

    // MARK: Tags

    package var tags: [TagDescription] { states.descriptions }

    /// The index in `tags` of the tag of a beacon; nil if the beacon is not a tag.
    package mutating func tag(of beacon: BeaconID) -> Int? { attendance.tag(of: beacon)?.number }

    private mutating func replaceTags(by descriptions: [TagDescription], at now: MonotonicInstant) {
        let moved = states.replace(by: descriptions)
        plan.learning.move(to: moved, tags: states.count)
        attendance.replaceTags(by: tags, moved: moved, at: now)
        let attendance = attendance
        states.keepHome { attendance.isHome($0, $1) }
    }

    /// Sets which tags are phones. Learners stay, as open windows do.
    private mutating func setPhones(_ uuids: Set<BeaconUUID>, at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard states.setPhones(uuids) else { return }
        welcome(attendance.setPhones(of: tags, at: now), at: now, &effects)
    }

    /// The tag is in the room, for this long from now on. Zero ends the training.
    private mutating func learn(
        _ name: RoomName, _ id: String, _ duration: Duration, at now: MonotonicInstant,
        _ effects: inout [Effect]
    ) {
        guard let tag = states.index(ofID: id), let room = plan.room(named: name, &states, at: now, &effects) else {
            counters.refused += 1
            return
        }
        if duration <= .zero {
            plan.learning.endTraining(tag, in: room, at: now)
        } else {
            plan.learning.beginTraining(tag, in: room, for: duration, at: now, plan.hearing.rooms)
        }
    }

    // MARK: After a restart

    /// Restores what was learned. Call it once, before anything else. Entries that do not fit are left out, and so are gateways
    /// that did not count, which come back with their cards, and rooms without a gateway about which nothing was learned.
    package mutating func restore(_ learned: LearnedSite) {
        var ignored: [Effect] = []
        let rooms = plan.restoreRooms(of: learned, &states)
        let gateways = learned.gateways.map { $0.isKnown ? gatewayIndex($0.name, at: nil, &ignored) : nil }
        plan.restore(learned, rooms, gateways, &states)
    }

    /// Continues from what was reported. Set the tags first; call this before anything is heard of these tags.
    ///
    /// A tag that was at home stays at home, in its room, until listening gateways have been silent about it for as long as for
    /// a beacon about which nothing is known.
    package mutating func restore(_ reported: [ReportedTag], at now: MonotonicInstant) {
        var home: [TagIndex] = []
        var ignored: [Effect] = []
        let indices = states.indicesOfIDs
        for report in reported where report.isHome {
            guard let tag = indices[report.id] else { continue }
            states[tag].isHome = true
            // What it showed of its room is learned already. A stored time may be wrong.
            let stay = max(0, min(report.stay.inSeconds, Double(tuning.transition.longestStaySeconds)))
            states[tag].since = now.advanced(by: .seconds(-stay))
            if let name = report.room, let room = plan.room(named: name, &states, at: now, &ignored) {
                states[tag].settle(in: room)
            }
            home.append(tag)
        }
        attendance.restore(home, of: states, at: now)
    }

    /// Continues from what another service reported about tags for which this engine has decided less: nothing, or that the tag
    /// is at home but not its room.
    package mutating func adopt(_ reported: [ReportedTag], at now: MonotonicInstant) {
        restore(states.undecided(of: reported), at: now)
    }
}
