package import Base
import Beacon
import Regions
package import Rooms
import SiteProtocol

/// Where the tags are: the engine that decides it, and all that follows from its decisions.
///
/// It coordinates the parts that a message of a gateway passes: the table of the gateways, the engine, the states of the tags, the
/// virtual nodes, and what the broker retains. It does not know why this service is active, nor where the tags come from: that is decided
/// in `Site`.
package struct Whereabouts: Sendable {
    package private(set) var engine: RoomEngine
    package private(set) var states: TagStates
    package private(set) var gateways: GatewayTable
    package private(set) var aliases = NodeAliases()
    package private(set) var virtualNodes: VirtualNodes
    private var retained: RetainedSite
    private var learning = LearnedWrites()
    private var answers = LearnAnswers()
    /// Whether decisions are published. A standby records the tag states that another service publishes.
    package private(set) var isActive: Bool
    private(set) var clock: WallClock

    init(_ settings: SiteSettings, tuning: RoomTuning, _ clock: WallClock) {
        (self.clock, isActive) = (clock, settings.instance == nil)
        engine = RoomEngine(tuning: tuning, bounds: settings.bounds)
        states = TagStates(settings)
        gateways = GatewayTable(settings)
        virtualNodes = VirtualNodes(isOn: settings.publishesVirtualNodes)
        retained = RetainedSite(settings)
    }

    /// The tags in force.
    var tags: [TagIdentity] { states.roster.tags }
    /// When the connection to the broker was made; nil without one.
    package var connected: MonotonicInstant? { retained.connected }
    var isConnected: Bool { retained.connected != nil }
    /// nil if Home Assistant's discovery is off.
    var discovery: SiteDiscovery? { retained.discovery }

    // MARK: - Start, time, end

    /// - Parameters:
    ///   - tags: The tags in force.
    ///   - learns: Whether what is learned is stored from now on.
    mutating func start(_ stored: StoredSite, tags: [TagIdentity], learns: Bool, at now: MonotonicInstant) {
        if let learned = stored.learned { engine.restore(learned) }
        gateways.place(in: &engine, at: now)
        states.restore(stored)
        setTags(tags, at: now)
        states.adopt(stored: stored.states, clock, at: now)
        // What was learned during the present stays is among what was restored, unless that could not be read.
        engine.restore(states.roster.reported(heard: stored.learned == nil ? [:] : stored.heard), at: now)
        if learns { learning.begin(at: now) }
    }

    mutating func set(_ clock: WallClock, _ effects: inout [Site.Effect]) {
        self.clock = clock
        if clock.isKnown { states.stamp(clock, engine, &effects) }
    }

    /// When the event of a publication happened, if its time of day is not known yet; nil if it has the right time, or none.
    package func unstampedInstant(of publication: SitePublication, at now: MonotonicInstant) -> MonotonicInstant? {
        states.unstampedInstant(of: publication, clock, at: now)
    }

    var nextDeadline: MonotonicInstant? {
        [engine.nextDeadline, retained.nextDeadline, learning.due, virtualNodes.due, states.due, answers.due]
            .compactMap(\.self).min()
    }

    /// Answers a start of Home Assistant that had to wait.
    mutating func answerHomeAssistant(at now: MonotonicInstant, _ effects: inout [Site.Effect]) {
        if retained.beginRound(isActive: isActive, at: now) { correctRetained(at: now, &effects) }
    }

    /// Decides what is due.
    mutating func decide(at now: MonotonicInstant, _ effects: inout [Site.Effect]) {
        if let due = engine.nextDeadline, due <= now { pass(.tick, at: now, &effects) }
        guard gateways.joinFloors(engine.plan, at: now) else { return }
        states.set(floors: gateways.floors)
        pass(.floors(gateways.floors.told), at: now, &effects)
        correctRetained(at: now, &effects)
    }

    /// Stores and publishes what is due.
    ///
    /// - Parameter isElected: Whether this service is the active one, so that others wait for its states.
    mutating func repeatAll(isElected: Bool, at now: MonotonicInstant, _ effects: inout [Site.Effect]) {
        if retained.beginCheck(at: now) {
            correctRetained(at: now, &effects)
            retained.correctUnheard(
                &states, isListening: isActive && engine.plan.isListening, clock, at: now, &effects)
        }
        retained.removeObsolete(states, isActive: isActive, at: now, &effects)
        answers.tick(engine, states.roster, isActive: isActive, at: now, &effects)
        if let due = learning.due, due <= now { storeLearned(at: now, &effects) }
        states.sendRound(isHeard: isElected && isConnected, at: now, &effects)
        virtualNodes.sendAll(states.roster, isHeard: isActive && isConnected, at: now, &effects)
    }

    /// What is learned, and when the tags were last heard.
    var storedLearning: [Site.Effect] {
        [.store(.learned(engine.plan.learnedSource)), states.storedTimes(engine, clock)]
    }

    private mutating func storeLearned(at now: MonotonicInstant, _ effects: inout [Site.Effect]) {
        learning.begin(at: now, engine.plan.trainingEnds)
        effects += storedLearning
    }

    /// Stores a deletion by a user at once, if that is not too often.
    private mutating func storeForgotten(at now: MonotonicInstant, _ effects: inout [Site.Effect]) {
        if learning.forget(at: now) { storeLearned(at: now, &effects) }
    }

    // MARK: - Decisions

    /// Passes an input to the engine, and carries out its decisions.
    mutating func pass(_ input: RoomEngine.Input, at now: MonotonicInstant, _ effects: inout [Site.Effect]) {
        for effect in engine.handle(input, at: now) {
            switch effect {
            case .decided(let decision): carryOut(decision, at: now, &effects)
            case .found(let finding):
                effects.append(.found(finding))
                if case .renamed(let former, let room, _) = finding {
                    rename(former, to: room, at: now, &effects)
                } else if case .notRenamed(let room, let new, let refusal) = finding {
                    refuse(.rename(room: room, to: new), refusal.text, &effects)
                }
            }
        }
    }

    /// The tags in a room that has another name and id now enter it, as it is published.
    private mutating func rename(
        _ former: RoomName, to room: RoomName, at now: MonotonicInstant, _ effects: inout [Site.Effect]
    ) {
        for (index, state) in states.roster.states.enumerated() where state.room?.id == former.id && state.isHome {
            let decision = RoomEngine.Decision(tag: index, isHome: true, from: former, to: room, confidence: 1)
            carryOut(decision, at: now, &effects)
        }
        // What is stored must not have the former name after a restart.
        storeForgotten(at: now, &effects)
    }

    private mutating func carryOut(
        _ decision: RoomEngine.Decision, at now: MonotonicInstant, _ effects: inout [Site.Effect]
    ) {
        guard isActive, let move = states.take(decision, engine, clock, at: now) else { return }
        virtualNodes.send(move, isConnected: isConnected, &effects)
        let first = effects.count
        states.report(move, engine, clock, at: now, &effects)
        retained.record(effects[first...])
    }

    /// Turns the publishing of decisions on or off. When it is turned on, what differs from the states that another service published
    /// is published at once.
    mutating func setActive(_ isActive: Bool, at now: MonotonicInstant, _ effects: inout [Site.Effect]) {
        let begins = isActive && !self.isActive
        self.isActive = isActive
        if !isActive { states.yield(at: clock.epochSeconds(at: now), &effects) }
        guard begins else { return }
        virtualNodes.begin(at: now)
        engine.adopt(states.roster.reported(heard: [:]), at: now)
        for decision in states.takeOver(engine, retained.tags, clock, at: now, &effects) {
            carryOut(decision, at: now, &effects)
        }
    }

    // MARK: - Tags

    mutating func setTags(_ tags: [TagIdentity], at now: MonotonicInstant) {
        guard tags != states.roster.tags else { return }
        let descriptions = tags.map {
            TagDescription(id: $0.id, name: $0.name, pattern: $0.pattern, isPhone: gateways.isPhone($0.pattern.uuid))
        }
        _ = engine.handle(.tags(descriptions), at: now)
        // The engine omits tags whose id is already taken.
        let kept = Set(engine.tags.map(\.id))
        var seen: Set<String> = []
        states.replace(by: tags.filter { kept.contains($0.id) && seen.insert($0.id).inserted })
    }

    /// Replaces the tags. Tags that are removed leave their rooms.
    ///
    /// - Parameter mayLeave: Whether the leaves are published if no other service turns out to be active.
    /// - Returns: What is published and stored of the tags that are gone. It comes after the other effects of the change.
    mutating func change(
        _ tags: [TagIdentity], mayLeave: Bool, at now: MonotonicInstant, _ effects: inout [Site.Effect]
    ) -> [Site.Effect] {
        // Before the comparison with the broker, which knows the states that are left after all changes.
        for leave in states.leaves(by: tags) { carryOut(leave, at: now, &effects) }
        let old = states.roster
        setTags(tags, at: now)
        var removals: [Site.Effect] = []
        states.drop(old, isActive: isActive, mayLeave: mayLeave, at: clock.epochSeconds(at: now), &removals)
        retained.record(removals[...])
        return removals
    }

    // MARK: - The broker

    /// The connection was made. Without one no tag goes away, because no message of a gateway arrives.
    mutating func connected(at now: MonotonicInstant, _ effects: inout [Site.Effect]) {
        retained.connected(at: now)
        gateways.connected()
        aliases.begin()
        if isActive { virtualNodes.begin(at: now) }
        pass(.connected(true), at: now, &effects)
    }

    mutating func disconnected(at now: MonotonicInstant, _ effects: inout [Site.Effect]) {
        pass(.connected(false), at: now, &effects)
        retained.disconnected()
    }

    mutating func homeAssistantStarted(at now: MonotonicInstant, _ effects: inout [Site.Effect]) {
        if isActive, retained.homeAssistantStarted(at: now) { correctRetained(at: now, &effects) }
    }

    /// Brings the broker and Home Assistant up to date, if this service writes there.
    mutating func correctRetained(at now: MonotonicInstant, _ effects: inout [Site.Effect]) {
        guard isActive else { return retained.compareAgain() }
        guard retained.isComparable(at: now) else { return }
        let shown = retained.connected.map { gateways.published(in: engine, connected: $0, at: now) }
        retained.correct(&states, engine.trustedRooms, shown ?? retained.comparedGateways, at: now, &effects)
    }

    mutating func receive(sealed topic: RoomTopic, isRetained: Bool, at now: MonotonicInstant) {
        retained.receive(sealed: topic, isRetained: isRetained, isActive: isActive, at: now)
    }

    mutating func receive(entity message: Publication, isRetained: Bool, at now: MonotonicInstant) {
        retained.receive(entity: message, isRetained: isRetained, isActive: isActive, at: now)
    }

    /// - Parameters:
    ///   - isBelieved: Whether another service is active, whose decisions arrive live. Any client can leave a state at the broker, without
    ///     a key. After a start, only this service's store counts.
    ///   - isStored: Whether this service has a list of tags. One that has stored anything is believed to have one at its next start.
    mutating func receive(
        _ state: Retained<PublishedTag>, ofTag id: String, isRetained: Bool, isBelieved: Bool, isStored: Bool,
        at now: MonotonicInstant, _ effects: inout [Site.Effect]
    ) {
        retained.receive(.tag(id: id, state), isRetained: isRetained, isActive: isActive, at: now)
        guard !isActive, !isRetained, isBelieved, case .value(let state) = state,
            let index = states.roster.index(ofTag: id)
        else { return }
        states.adopt(state, ofTag: index, isStored: isStored, engine, &effects)
    }

    /// Another service has appeared. It believes what it receives live.
    mutating func beginRound(at now: MonotonicInstant) { states.beginRound(at: now) }

    // MARK: - Gateways and nodes

    /// A message of a gateway, a node or a client arrived.
    mutating func receive(
        _ message: SiteMessage, isRetained: Bool, at now: MonotonicInstant, _ effects: inout [Site.Effect]
    ) {
        switch message {
        case .heard(let gateway, let second):
            gateways.recordFeed(of: gateway, startID: second.startID, at: now)
            if let shared = gateways.gateway(withRadioOf: gateway, at: now) {
                return leaveOut(gateway, for: shared, at: now, &effects)
            }
            // Another gateway had its place meanwhile.
            if !engine.plan.hasRoom(gateway: gateway) { place(gateway, gateways.cards[gateway], at: now, &effects) }
            pass(.heard(gateway: gateway, second), at: now, &effects)
            if isActive { TagBatteries.record(second, of: gateway, at: now, &engine, &states, &retained, &effects) }
            gateways.askForCard(of: gateway, engine.plan, &effects)
            countPhones(of: gateway, at: now, &effects)
        case .nodeHeard(let node, let second): hear(second, of: node, at: now, &effects)
        case .aliasHeard(let alias, let node, let reading):
            guard let beacon = aliases.beacon(of: alias) else { return }
            do throws(FeedError) {
                if let second = try reading.second(of: beacon) { hear(second, of: node, at: now, &effects) }
            } catch {
                effects.append(.refused(error, topic: RoomTopic.espresenseAlias(alias, node: node).text))
            }
        case .alias(let beacon, let alias): aliases.set(alias, of: beacon)
        case .nodeTelemetry(let node):
            if feed(inPlaceOf: node, at: now) == nil { pass(.telemetry(node: node), at: now, &effects) }
        case .available(let gateway, let isAvailable):
            gateways.record(isOffline: isAvailable == false, gateway, in: engine)
            pass(.available(gateway: gateway, isAvailable == true), at: now, &effects)
        case .card(let gateway, let card): receive(card, of: gateway, at: now, &effects)
        case .learn(let request): learn(request, at: now, &effects)
        case .room, .health: retained.receive(message, isRetained: isRetained, isActive: isActive, at: now)
        // Only the page shows nearby beacons, and the others are for `Site`.
        case .nearby, .tag, .tags, .service: break
        }
    }

    /// A scanner of Home Assistant has the radio of a gateway. It is silent for the engine, so that its silence is no evidence.
    private mutating func leaveOut(
        _ scanner: String, for shared: (gateway: String, isNew: Bool), at now: MonotonicInstant,
        _ effects: inout [Site.Effect]
    ) {
        guard shared.isNew else { return }
        pass(.available(gateway: scanner, false), at: now, &effects)
        effects += [SharedRadios.finding(scanner, of: shared.gateway), .pageChanged]
        correctRetained(at: now, &effects)
    }

    private mutating func hear(
        _ second: HeardSecond, of node: String, at now: MonotonicInstant, _ effects: inout [Site.Effect]
    ) {
        switch feed(inPlaceOf: node, at: now) {
        case .active: return virtualNodes.record(rival: node, at: now, &effects)
        case .expected: return
        case nil: break
        }
        let placement = gateways.placement(ofNode: node, engine, isSettled: retained.isSettled(at: now))
        if let placement { pass(placement, at: now, &effects) }
        pass(.heard(gateway: node, second), at: now, &effects)
    }

    /// Readings of a gateway that count in the place of those of a node.
    func feed(inPlaceOf node: String, at now: MonotonicInstant) -> GatewayTable.NodeFeed? {
        gateways.feed(inPlaceOf: node, engine, connected: retained.connected, at: now)
    }

    private mutating func place(
        _ gateway: String, _ card: GatewayCard?, at now: MonotonicInstant, _ effects: inout [Site.Effect]
    ) {
        if let placement = gateways.placement(of: gateway, card) { pass(placement, at: now, &effects) }
    }

    /// Says again which tags are phones, if a gateway with a card begins or ceases to count.
    private mutating func countPhones(of gateway: String, at now: MonotonicInstant, _ effects: inout [Site.Effect]) {
        gateways.count(gateway, engine.plan.isTrusted(gateway: gateway), at: now)
        if gateways.areOtherPhones { pass(.phones(gateways.phones(among: states.roster.tags)), at: now, &effects) }
    }

    /// New and removed gateways are published at once, if their messages count.
    private mutating func receive(
        _ card: GatewayCard?, of gateway: String, at now: MonotonicInstant, _ effects: inout [Site.Effect]
    ) {
        if gateways.record(card, of: gateway, in: engine, at: now) { effects.append(.pageChanged) }
        countPhones(of: gateway, at: now, &effects)
        let isFixed = gateways.configuredRoom(of: gateway) != nil
        let isTrusted = engine.plan.isTrusted(gateway: gateway)
        guard let card else {
            if !isFixed { pass(.forget(gateway: gateway), at: now, &effects) }
            guard isTrusted else { return }
            correctRetained(at: now, &effects)
            if !isFixed { storeForgotten(at: now, &effects) }
            return
        }
        place(gateway, card, at: now, &effects)
        // The configuration may give the gateway its room, and then it counts.
        countPhones(of: gateway, at: now, &effects)
        // The broker may have delivered the availability before the card.
        if gateways.isOffline(gateway) { pass(.available(gateway: gateway, false), at: now, &effects) }
        if isTrusted { correctRetained(at: now, &effects) }
    }

    /// The gateways whose messages cannot be decrypted.
    mutating func set(strangers: Set<String>, _ effects: inout [Site.Effect]) {
        gateways.set(strangers: strangers)
        effects.append(.pageChanged)
    }

    /// What the survey says of the gateways. One may be new since the last time, so that all are told each time how they measure.
    mutating func set(survey: GatewaySurvey, at now: MonotonicInstant, _ effects: inout [Site.Effect]) {
        gateways.set(survey: survey.standing)
        for known in survey.known { pass(known, at: now, &effects) }
    }

    private mutating func learn(
        _ request: FeedDecoder.LearnRequest, at now: MonotonicInstant, _ effects: inout [Site.Effect]
    ) {
        let asked = LearnAnswers.Asked(request, engine, states.roster, at: now)
        let first = effects.count
        if let refusal = asked.refusal { refuse(request, refusal, &effects) }
        if let warning = asked.warning { effects.append(warning) }
        switch request {
        case .train(let room, _, let duration):
            pass(.learn(room: room, tag: asked.tag, duration), at: now, &effects)
            learning.expect(engine.plan.trainingEnds, at: now)
        case .forget(let room):
            pass(.forgetRoom(room), at: now, &effects)
            if asked.wasLearned { correctRetained(at: now, &effects) }
            storeForgotten(at: now, &effects)
        case .rename(let room, let new): answer(.rename(room, to: new), at: now, &effects)
        case .moved(let gateway):
            if asked.refusal == nil { answer(.moved(gateway: gateway), at: now, &effects) }
        }
        let isRefused = effects[first...].contains { if case .send(.refused) = $0 { true } else { false } }
        answers.answer(
            asked, isRefused: isRefused, engine, states.roster, isActive: isActive, at: now, &effects)
    }

    /// Answers a person whose request is not carried out. A standby knows less, and says nothing.
    private func refuse(_ request: FeedDecoder.LearnRequest, _ reason: String, _ effects: inout [Site.Effect]) {
        if isActive { effects.append(.send(.refused(LearnRefusal(request, reason)))) }
    }

    /// A person said whether a room was renamed or a gateway was carried.
    private mutating func answer(_ input: RoomEngine.Input, at now: MonotonicInstant, _ effects: inout [Site.Effect]) {
        pass(input, at: now, &effects)
        correctRetained(at: now, &effects)
        storeForgotten(at: now, &effects)
    }
}

extension SiteMessage {
    /// Whether a retained one does not count, because the message says what happens now.
    var countsOnlyLive: Bool {
        switch self {
        case .heard, .nodeHeard, .aliasHeard, .nodeTelemetry, .learn: true
        case .alias, .available, .card, .tags, .tag, .room, .health, .service, .nearby: false
        }
    }
}
