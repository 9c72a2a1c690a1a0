package import Base
package import OwnTracks
import Regions
package import Rooms
import SiteProtocol

/// All decisions of the service of a site. Messages, commands, edits and time go in; messages and values to store come out.
///
/// `handle` is the only mutating entry point. The core reads no clock, opens no file and has no connection, so every behaviour
/// can be replayed. It works with values: a `SiteMessage` is read from a topic and JSON before, and a `SitePublication` becomes a
/// topic and JSON after.
///
/// The site owns parts, and each part owns its state. What is here is the order in which an input passes them: what one part says goes
/// to the others as arguments, and each part appends its effects.
package struct Site: Sendable {
    /// As at the start, but with the tags that are in the configuration file now.
    package private(set) var settings: SiteSettings
    package private(set) var siteTags: SiteTags
    package private(set) var whereabouts: Whereabouts
    package private(set) var election: Election
    package private(set) var survey = GatewaySurvey()
    private var commands: SiteCommands
    package private(set) var counters = Counters()
    package private(set) var malformed = MalformedMessages()
    /// Whether the stored state was read.
    package private(set) var isStarted = false
    /// Whether the store gave up a write, and everything is to be stored again.
    private var lacksWrite = false

    package struct Counters: Hashable, Sendable {
        /// Retained messages on topics where only live messages count.
        package var retained: UInt64 = 0
    }

    package init(
        _ settings: SiteSettings, tuning: RoomTuning = RoomTuning(),
        wallClock: WallClock = WallClock(epochOffset: 0, isKnown: false)
    ) {
        self.settings = settings
        siteTags = SiteTags(settings)
        whereabouts = Whereabouts(settings, tuning: tuning, wallClock)
        election = Election(settings)
        commands = SiteCommands(settings)
    }

    package var role: ActiveService.Role { election.role }
    package var engine: RoomEngine { whereabouts.engine }
    package var roster: TagRoster { whereabouts.states.roster }
    /// The tags in force.
    package var tags: [TagIdentity] { whereabouts.tags }
    /// Counts of what became of the commands on `/cmd`.
    package var commandCounts: CommandCounts { commands.counts }
    /// nil if Home Assistant's discovery is off.
    package var discovery: SiteDiscovery? { whereabouts.discovery }

    /// When `tick` is due.
    package var nextDeadline: MonotonicInstant? {
        [
            whereabouts.nextDeadline, whereabouts.gateways.floors.due, election.nextDeadline,
            commands.due(isUndecided: isUndecided), siteTags.list.due, survey.due,
        ].compactMap(\.self).min()
    }

    /// Handles one input at `now`, which is never earlier than the previous one.
    ///
    /// - Returns: One decision. All values that it stores belong in one transaction.
    package mutating func handle(_ input: Input, at now: MonotonicInstant) -> [Effect] {
        var effects: [Effect] = []
        switch input {
        case .start(let stored): start(with: stored, at: now, &effects)
        case .tick: tick(at: now, &effects)
        case .wallClock(let clock): whereabouts.set(clock, &effects)
        case .message(let message, let isRetained): receive(message, isRetained: isRetained, at: now, &effects)
        case .malformed(let error, let topic): effects.append(.refused(error, topic: topic))
        case .sealed(let topic, let reason, let isRetained):
            receive(sealed: topic, reason, isRetained: isRetained, at: now, &effects)
        case .strangers(let names): whereabouts.set(strangers: names, &effects)
        case .command(let command):
            commands.receive(command, at: now, &effects)
            carryOutCommands(at: now, &effects)
        case .sealedCommand(let reason, let text): commands.refuse(reason, text, &effects)
        case .edits(let edits): siteTags.apply(edits, &whereabouts, &election, at: now, &effects)
        case .request(let request): carryOut(request, at: now, &effects)
        case .settings(let settings): configure(settings, at: now, &effects)
        case .brokerConnected: connected(at: now, &effects)
        // Its card stays. A service that is gone asks nobody.
        case .leavesBroker: election.sendCard(asks: false, &effects)
        case .brokerDisconnected:
            whereabouts.disconnected(at: now, &effects)
            election.disconnected(at: now)
        case .homeAssistantStarted: whereabouts.homeAssistantStarted(at: now, &effects)
        case .entity(let message, let isRetained):
            whereabouts.receive(entity: message, isRetained: isRetained, at: now)
        case .discontinuity: whereabouts.pass(.discontinuity, at: now, &effects)
        case .stateLost: storeEverything(&effects)
        case .writeLost: lacksWrite = true
        // Not at once: a disk that takes nothing would be written to without end.
        case .checkpoint: if lacksWrite { storeEverything(&effects) }
        // No message arrived meanwhile, as without a connection.
        case .absent: if whereabouts.isConnected { whereabouts.pass(.connected(true), at: now, &effects) }
        case .stopping: if isStarted { stop(at: now, &effects) }
        }
        for case .refused(let error, let topic) in effects { malformed.record(error, topic: topic, at: now) }
        return effects
    }

    // MARK: - Start, time, end

    /// Restores the stored state. The service is the standby until it is known whether another one is active.
    private mutating func start(with stored: StoredSite, at now: MonotonicInstant, _ effects: inout [Effect]) {
        if let problem = stored.problem {
            effects.append(.log(.error, "the learned data cannot be read; learning starts again: \(problem)"))
        }
        siteTags.restore(stored, configured: settings.tags)
        commands.restore(stored)
        if let former = stored.formerTopic {
            effects += [.regions(siteTags.regions.kept), .regionsMoved(from: former), commands.storedApplied]
        }
        if stored.lacksTopic { effects.append(.store(.topic)) }
        if stored.formerTopic != nil { effects += siteTags.list.storedVersion }
        survey.restore(stored)
        beginSurvey(at: now)
        whereabouts.start(stored, tags: siteTags.regions.tags(&effects), learns: !election.isAlone, at: now)
        isStarted = true
        siteTags.settleConfigured(&whereabouts, &election, at: now, &effects)
    }

    private mutating func tick(at now: MonotonicInstant, _ effects: inout [Effect]) {
        whereabouts.answerHomeAssistant(at: now, &effects)
        carryOutCommands(at: now, &effects)
        siteTags.tick(&whereabouts, &election, at: now, &effects)
        whereabouts.decide(at: now, &effects)
        if let due = survey.due, due <= now { checkSurvey(at: now, &effects) }
        if let decided = election.tick(at: now) { elect(decided, at: now, &effects) }
        whereabouts.repeatAll(isElected: role == .active, at: now, &effects)
    }

    private mutating func stop(at now: MonotonicInstant, _ effects: inout [Effect]) {
        let isAlone = election.other == nil
        for received in commands.drain(isAlone: isAlone) {
            obey(received, takesRetained: isForemost || isAlone, at: now, &effects)
        }
        effects += whereabouts.storedLearning + survey.stored
    }

    /// Stores the whole state again, after the database was removed or damaged.
    private mutating func storeEverything(_ effects: inout [Effect]) {
        lacksWrite = false
        let states = whereabouts.states
        effects += [.regions(siteTags.regions.kept)] + whereabouts.storedLearning + states.storedStates
        effects +=
            siteTags.list.storedVersion + siteTags.list.storedMinors + survey.stored + [
                states.storedRooms, commands.storedApplied, states.storedVisits, .store(.topic),
                commands.storedEnvelopes, siteTags.storedConfigured,
            ]
    }

    // MARK: - Connection and election

    /// The broker accepted the connection. What it retains follows.
    private mutating func connected(at now: MonotonicInstant, _ effects: inout [Effect]) {
        siteTags.connected()
        whereabouts.connected(at: now, &effects)
        if let decided = election.connected(at: now) { elect(decided, at: now, &effects) }
        siteTags.greet(&election, whereabouts, &effects)
    }

    private mutating func elect(_ decided: Election.Decided, at now: MonotonicInstant, _ effects: inout [Effect]) {
        for effect in decided {
            election.announce(effect, asks: siteTags.list.isOffered, &effects)
            switch effect {
            case .publish(isActive: true, _), .taken, .refused, .remove: break
            case .publish:
                // A service that was active before a long outage becomes standby here.
                whereabouts.setActive(false, at: now, &effects)
                // A standby takes the waiting messages from the store and drops them.
                effects.append(.deliver)
            case .began:
                siteTags.settle(&whereabouts, &election, at: now, &effects)
                whereabouts.setActive(true, at: now, &effects)
                whereabouts.correctRetained(at: now, &effects)
                effects.append(.deliver)
                siteTags.sendList(whereabouts, &effects)
            case .stoodDown: whereabouts.setActive(false, at: now, &effects)
            }
        }
        carryOutCommands(at: now, &effects)
    }

    // MARK: - Messages

    private mutating func receive(
        _ message: SiteMessage, isRetained: Bool, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        if isRetained, message.countsOnlyLive {
            if case .learn = message { effects += [election.retainedRequest].compactMap(\.self) }
            return counters.retained += 1
        }
        switch message {
        case .tags(let list):
            siteTags.receive(list, isLive: !isRetained, &whereabouts, &election, at: now, &effects)
            beginSurvey(at: now)
        case .tag(let id, let state):
            whereabouts.receive(
                state, ofTag: id, isRetained: isRetained, isBelieved: election.hasActiveOther(at: now),
                isStored: siteTags.list.version != nil, at: now, &effects)
        case .service(let instance, let card):
            receive(card, ofService: instance, isRetained: isRetained, at: now, &effects)
        case .heard(let gateway, let second): hear(second, of: gateway, at: now, &effects)
        case .learn(.moved(let gateway)): takeMove(of: gateway, at: now, &effects)
        case .card(let gateway, let card):
            whereabouts.receive(message, isRetained: isRetained, at: now, &effects)
            guard card == nil else { return }
            siteTags.forgetSurvey(of: gateway)
            survey.forget(gateway)
        case .aliasHeard(let alias, let node, let reading):
            whereabouts.receive(message, isRetained: isRetained, at: now, &effects)
            survey.hear(reading, of: alias, by: node, siteTags.list.minors?.beacons, whereabouts, at: now)
        case .nodeHeard, .alias, .nodeTelemetry, .available, .learn, .room, .health, .nearby:
            whereabouts.receive(message, isRetained: isRetained, at: now, &effects)
        }
    }

    /// A gateway heard tags, and beacons of other gateways.
    private mutating func hear(
        _ second: HeardSecond, of gateway: String, at now: MonotonicInstant, _ effects: inout [Site.Effect]
    ) {
        guard let beacons = siteTags.list.minors?.beacons else {
            return whereabouts.receive(.heard(gateway: gateway, second), isRetained: false, at: now, &effects)
        }
        let ofTags = GatewaySurvey.second(second, without: beacons)
        whereabouts.receive(.heard(gateway: gateway, ofTags), isRetained: false, at: now, &effects)
        survey.hear(second, by: gateway, beacons, whereabouts, at: now)
    }

    /// The broker has a message that cannot be decrypted. A correct one replaces it.
    private mutating func receive(
        sealed topic: RoomTopic, _ reason: String, isRetained: Bool, at now: MonotonicInstant,
        _ effects: inout [Effect]
    ) {
        whereabouts.receive(sealed: topic, isRetained: isRetained, at: now)
        if case .tags = topic { siteTags.receive(nil, reason, &whereabouts, &election, at: now, &effects) }
        effects.append(election.refusal(ofSealed: topic, reason))
    }

    private mutating func receive(
        _ card: ServiceCard?, ofService instance: String, isRetained: Bool, at now: MonotonicInstant,
        _ effects: inout [Effect]
    ) {
        if election.isOwn(instance) {
            // The broker answers in order: what it retains has arrived before.
            if !isRetained, card != nil { siteTags.endWait(&election, whereabouts, &effects) }
            // Another service took this one for gone while it started. The active one sends its card anyway.
            if !isRetained, card == nil, role != .active { election.sendCard(asks: siteTags.list.isOffered, &effects) }
        } else if !isRetained, card?.isActive == false, role == .active {
            // Another service has connected: it believes what it receives live.
            siteTags.want(&whereabouts, &election, at: now, &effects)
            whereabouts.beginRound(at: now)
        }
        guard let decided = election.receive(card, of: instance, at: now, &effects) else { return }
        elect(decided, at: now, &effects)
    }

    // MARK: - The survey

    private mutating func beginSurvey(at now: MonotonicInstant) {
        if siteTags.list.minors != nil { survey.begin(at: now) }
    }

    private mutating func checkSurvey(at now: MonotonicInstant, _ effects: inout [Site.Effect]) {
        siteTags.askForBeacons(whereabouts, election, &effects)
        survey.check(
            siteTags.list.minors?.beacons, whereabouts, stores: !election.isAlone, at: now, &effects)
        whereabouts.set(survey: survey, at: now, &effects)
    }

    /// Why the answer that a gateway was carried is refused; nil if that is the question, of its room or of the survey.
    package func refusal(ofMoving gateway: String, at now: MonotonicInstant) -> String? {
        guard !survey.asks(about: gateway) else { return nil }
        return RoomQuestion.refusal(ofMoving: gateway, among: engine.plan.questions(at: now))
    }

    /// A person says that a gateway was carried to where it is.
    private mutating func takeMove(of gateway: String, at now: MonotonicInstant, _ effects: inout [Site.Effect]) {
        let isOfRoom = RoomQuestion.refusal(ofMoving: gateway, among: engine.plan.questions(at: now)) == nil
        let isOfSurvey = survey.asks(about: gateway)
        if isOfRoom || isOfSurvey { survey.accept(gateway, &effects) }
        if isOfSurvey {
            whereabouts.set(survey: survey, at: now, &effects)
            whereabouts.correctRetained(at: now, &effects)
        }
        guard isOfRoom || !isOfSurvey else {
            if whereabouts.isActive { effects.append(.send(.answer(LearnAnswer(.moved(gateway: gateway), .done)))) }
            return
        }
        whereabouts.receive(.learn(.moved(gateway: gateway)), isRetained: false, at: now, &effects)
    }

    // MARK: - Requests and commands

    private mutating func configure(_ new: SiteSettings, at now: MonotonicInstant, _ effects: inout [Effect]) {
        commands.setRights(new.commandRights)
        settings.tags = new.tags
        // Before the stored state is read, a change would overwrite it. The start takes these tags.
        if isStarted { siteTags.configure(new.tags, &whereabouts, &election, at: now, &effects) }
    }

    /// Why a request of the page is refused; nil if `handle` carries it out.
    package func refusal(of request: SiteRequest) -> String? {
        // A change before the stored state is read would overwrite that state.
        if request.changesTags, !isStarted { return "the service has not read its state yet" }
        return siteTags.refusal(of: request, whereabouts)
    }

    private mutating func carryOut(_ request: SiteRequest, at now: MonotonicInstant, _ effects: inout [Effect]) {
        switch request {
        case .learn(let request): effects.append(.send(.learn(request)))
        case .search(let duration): effects += [.send(.nearbyRequest(duration)), .pageChanged]
        case .addTag, .renameTag, .removeTag, .adoptTags:
            siteTags.carryOut(request, &whereabouts, &election, at: now, &effects)
        }
    }

    /// Whether this service is active, or would be if a person had answered its question. Then it carries out a retained command,
    /// too: its tags may be what the person wants, and otherwise the commands behind it would wait until the question is answered.
    private var isForemost: Bool { role == .active || (siteTags.list.isOffered && election.isHeldBack) }

    /// Whether it is still unknown if another service carries out a retained command.
    private var isUndecided: Bool { role == .listening && !isForemost }

    private mutating func carryOutCommands(at now: MonotonicInstant, _ effects: inout [Effect]) {
        let isUndecided = isUndecided
        let count = siteTags.regions.kept.regions.count
        while let received = commands.next(isUndecided: isUndecided, regions: count, at: now) {
            obey(received, takesRetained: isForemost, at: now, &effects)
        }
    }

    private mutating func obey(
        _ received: ReceivedCommand, takesRetained: Bool, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        let clock = whereabouts.clock
        guard let command = commands.admit(received, takesRetained: takesRetained, clock, at: now, &effects),
            let changes = siteTags.changes(by: command, &effects)
        else { return }
        // It is tried again when the broker sends it again: there may be room by then.
        if let text = siteTags.regions.refusal(of: changes) { return commands.refuse(.unavailable, text, &effects) }
        let remembered = commands.remember(received, clock, at: now)
        siteTags.change(changes, with: remembered, &whereabouts, &election, at: now, &effects)
        commands.countDone()
    }
}
