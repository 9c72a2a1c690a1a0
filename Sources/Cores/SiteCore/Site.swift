package import Base
package import OwnTracks
package import Regions
package import Rooms
package import SiteProtocol

/// All decisions of the service of a site. Messages, commands, edits and time go in; messages and values to store come out.
///
/// `handle` is the only mutating entry point. The core reads no clock, opens no file and has no connection, so every behaviour
/// can be replayed. It works with values: a `SiteMessage` is read from a topic and JSON before, and a `SiteReport` becomes a
/// topic and JSON after.
package struct Site: Sendable {
    package internal(set) var engine: RoomEngine
    /// As at the start, but with the tags that are in the configuration file now.
    package private(set) var settings: SiteSettings
    /// Rooms that the configuration gives to gateways by their `deviceId`, by the names of the gateways in topics.
    let roomsOfDevices: [String: String]
    /// Tags as regions, from the configuration, `setWaypoints` and the command line.
    package internal(set) var regions = RegionSet()
    package internal(set) var roster = TagRoster()
    /// Ids of the tags in the configuration file.
    package internal(set) var configuredTags: Set<String> = []
    /// nil if no other service exists.
    package internal(set) var election: ActiveService?
    /// Whether decisions are published. A standby records the tag states that another service publishes.
    package internal(set) var isActive: Bool
    /// Whether the visits of the history go on. While another service is active, their ends are not known here.
    var hasOpenVisits = true
    var siteList = SiteList()
    /// Whether the service's card asks a person to let it adopt the site's list of tags.
    var asksToAdopt = false
    package internal(set) var gateways = GatewayTable()
    /// The cards of the site's services, by instance.
    package internal(set) var services: [String: ServiceCard] = [:]
    var retained: RetainedSite
    package internal(set) var counters = Counters()
    /// When a tag first entered each room, by the room's id. As a region, the room was created then.
    var created: [String: Int64] = [:]
    var gate = CommandGate(of: .rooms)
    /// The rounds of descriptions and states that starts of Home Assistant cause.
    private var births = RoundLimit(pause: .seconds(30))
    private(set) var commandRights: CommandGate.Rights
    /// Commands that the broker may send again because it retains them.
    var appliedCommands = AppliedCommands()
    var wallClock: WallClock
    /// When the states of tags were decided that have no time of day yet, by the tag's id.
    var unstamped: [String: MonotonicInstant] = [:]
    /// When tags were last heard before this start, epoch seconds, by the tag's id.
    var heardBefore: [String: Int64] = [:]
    /// Tags at home that were removed before it was known whether another service is active, with their rooms. If none is, their
    /// leaves are published then. A service that ends before that does not publish them.
    var departed: [(tag: TagIdentity, room: RoomName?)] = []
    /// nil if decisions are not published as ESPresense nodes.
    package internal(set) var virtualNodes: VirtualNodes?
    var states = StateRound()
    /// Whether a retained `setWaypoints` may be in the queue.
    var hasRetainedCommand = false
    var learning = LearnedWrites()
    /// Whether the stored state was read.
    package private(set) var isStarted = false
    /// Whether the store gave up a write, and everything is to be stored again.
    private var lacksWrite = false

    package struct Counters: Hashable, Sendable {
        /// Retained messages on topics where only live messages count.
        package var retained: UInt64 = 0
        package var malformed: UInt64 = 0
    }

    /// When the learned data is stored.
    struct LearnedWrites: Sendable {
        /// Time between two writes.
        static let period: Duration = .seconds(900)
        /// Shortest time between two writes after deletions.
        static let forgettingPeriod: Duration = .seconds(5)
        /// Time from the end of a training run to the write of what it brought: its last messages arrive meanwhile.
        static let trainingRest: Duration = .seconds(5)

        /// When the next write is due; nil if nothing is stored.
        var due: MonotonicInstant?
        /// When learned data was last deleted.
        var forgotten: MonotonicInstant?
    }

    package init(
        _ settings: SiteSettings, tuning: RoomTuning = RoomTuning(),
        wallClock: WallClock = WallClock(epochOffset: 0, isKnown: false)
    ) {
        (self.settings, self.wallClock) = (settings, wallClock)
        commandRights = settings.commandRights
        roomsOfDevices = Dictionary(
            settings.gateways.map { (TopicIdentifier.identifier(of: $0.key), $0.value) }, uniquingKeysWith: min)
        engine = RoomEngine(tuning: tuning)
        election = settings.instance.map(ActiveService.init)
        isActive = settings.instance == nil
        retained = RetainedSite(settings)
        virtualNodes = settings.publishesVirtualNodes ? VirtualNodes() : nil
    }

    /// The tags in force.
    package var tags: [TagIdentity] { roster.tags }

    /// Counts of what became of the commands on `/cmd`.
    package var commandCounts: CommandCounts { gate.counts }

    package var role: ActiveService.Role { election?.role ?? .active }

    /// The name of this service among the services of the site.
    package var instance: String { election?.instance ?? "" }

    /// nil if Home Assistant's discovery is off.
    package var discovery: SiteDiscovery? { retained.discovery }

    /// When `tick` is due.
    package var nextDeadline: MonotonicInstant? {
        [
            engine.nextDeadline, election?.nextDeadline, holdsCommands ? nil : gate.due, retained.due, births.due,
            retained.removalDue, learning.due,
            siteList.due, virtualNodes?.due, states.due,
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
        case .wallClock(let clock): set(clock, &effects)
        case .message(let message, let isRetained): receive(message, isRetained: isRetained, at: now, &effects)
        case .malformed(let error): refuse(error, &effects)
        case .sealed(let topic, let reason, let isRetained):
            handleSealed(topic, reason, isRetained: isRetained, at: now, &effects)
        case .strangers(let names):
            gateways.strangers = names
            effects.append(.pageChanged)
        case .command(let command): receive(command, at: now, &effects)
        case .sealedCommand(let reason, let text): report(gate.refuse(reason, text), &effects)
        case .edits(let edits): apply(edits, at: now, &effects)
        case .request(let request): carryOut(request, at: now, &effects)
        case .settings(let settings):
            commandRights = settings.commandRights
            self.settings.tags = settings.tags
            // Before the stored state is read, a change would overwrite it. The start takes these tags.
            if isStarted { applyConfiguredTags(settings.tags, at: now, &effects) }
        case .brokerConnected: connected(at: now, &effects)
        case .leavesBroker:
            if let election { effects.append(.send(card(of: election, isActive: false, counter: 0))) }
        case .brokerDisconnected: disconnected(at: now, &effects)
        case .homeAssistantStarted:
            guard isActive else { break }
            // Any client may publish it.
            guard births.want(at: now) else { break }
            retained.isHomeAssistantNew = true
            correctRetained(at: now, &effects)
        case .entity(let message, let isRetained): recordEntity(message, isRetained: isRetained, at: now)
        case .discontinuity: pass(.discontinuity, at: now, &effects)
        case .stateLost: storeEverything(&effects)
        case .writeLost: lacksWrite = true
        // Not at once: a disk that takes nothing would be written to without end.
        case .checkpoint: if lacksWrite { storeEverything(&effects) }
        // No message arrived meanwhile, as without a connection.
        case .absent: if retained.connected != nil { pass(.connected(true), at: now, &effects) }
        case .stopping:
            guard isStarted else { break }
            carryOutLastCommands(at: now, &effects)
            effects += [.store(.learned(engine.learnedSource)), .store(.heard(heard))]
        }
        return effects
    }

    // MARK: - Start, time, end

    /// Restores the stored state. The service is the standby until it is known whether another one is active.
    private mutating func start(with stored: StoredSite, at now: MonotonicInstant, _ effects: inout [Effect]) {
        if let problem = stored.problem {
            effects.append(.log(.error, "the learned data cannot be read; learning starts again: \(problem)"))
        }
        regions = stored.regions
        regions.apply(settings.tags)
        if let former = stored.formerTopic {
            effects += [
                .regions(regions), .regionsMoved(from: former), .store(.appliedCommands(stored.appliedCommands)),
            ]
        }
        if stored.lacksTopic { effects.append(.store(.topic)) }
        configuredTags = Set(Self.tags(settings.tags).map(\.id))
        (created, heardBefore) = (stored.created, stored.heard)
        hasOpenVisits = stored.hasOpenVisits
        appliedCommands = stored.appliedCommands
        gate = CommandGate(of: .rooms, obeyed: stored.obeyedEnvelopes)
        siteList.version = stored.listVersion ?? (stored.hasList ? TagList.Version(0, instance) : nil)
        if stored.formerTopic != nil, let version = siteList.version { effects.append(.store(.listVersion(version))) }
        if let learned = stored.learned { engine.restore(learned) }
        for (gateway, room) in settings.gateways.sorted(by: { $0.key < $1.key }) {
            for name in names(ofConfigured: gateway) {
                _ = engine.handle(
                    .card(gateway: name, room: configuredRoom(ofGateway: name) ?? room, isConfigured: true), at: now)
            }
        }
        setTags(identities(&effects), at: now)
        for (position, tag) in roster.tags.enumerated() {
            guard var state = stored.states[tag.id] else { continue }
            if state.isHome, state.since <= 0 {
                // It was decided before the clock was set, and the clock was set after the end of that run, if at all.
                state.since = epoch(at: now)
                if !wallClock.isKnown { unstamped[tag.id] = now }
            }
            roster.adopt(state, ofTag: position)
        }
        // What was learned of the present stays is there, unless it cannot be read.
        engine.restore(roster.reported(heard: stored.learned == nil ? [:] : heardBefore), at: now)
        if election != nil { learning.due = now.advanced(by: LearnedWrites.period) }
        isStarted = true
    }

    /// The names in topics of a gateway that the configuration names. A `deviceId` with other characters than its topics may also
    /// be the name of an ESPresense node: which of both it is, is known if it counted in an earlier run, or else when it is heard.
    private func names(ofConfigured gateway: String) -> [String] {
        let identifier = TopicIdentifier.identifier(of: gateway)
        return identifier == gateway ? [gateway] : [gateway, identifier].filter { engine.isTrusted(gateway: $0) }
    }

    private mutating func tick(at now: MonotonicInstant, _ effects: inout [Effect]) {
        if births.begin(at: now), isActive {
            retained.isHomeAssistantNew = true
            correctRetained(at: now, &effects)
        }
        carryOutDueCommands(at: now, &effects)
        if let due = siteList.due, due <= now { handleListWhenDue(at: now, &effects) }
        waitForList(at: now, &effects)
        if let due = engine.nextDeadline, due <= now { pass(.tick, at: now, &effects) }
        if let decided = election?.tick(at: now) { elect(decided, at: now, &effects) }
        if let due = retained.due, due <= now {
            correctRetained(at: now, &effects)
            correctUnheard(at: now, &effects)
            retained.due = now.advanced(by: RetainedSite.period)
        }
        if let due = retained.removalDue, due <= now { removeObsolete(at: now, &effects) }
        if let due = learning.due, due <= now { storeLearned(at: now, &effects) }
        if let due = states.due, due <= now { sendStates(at: now, &effects) }
        if let due = virtualNodes?.due, due <= now { repeatVirtualNodes(at: now, &effects) }
    }

    /// States that were decided before the wall clock was known get their times, as the store gives them to the messages
    /// that wait.
    private mutating func set(_ clock: WallClock, _ effects: inout [Effect]) {
        wallClock = clock
        guard clock.isKnown else { return }
        for (position, tag) in roster.tags.enumerated() {
            guard let decided = unstamped[tag.id] else { continue }
            var state = roster.states[position]
            let since = epoch(at: decided)
            // A state may be forged, with any times.
            state.lastHeard? &+= since &- state.since
            state.since = since
            roster.adopt(state, ofTag: position)
            effects.append(.store(.tag(id: tag.id, state)))
            if let room = state.room { remember(room, state.since, &effects) }
        }
        unstamped = [:]
    }

    /// Stores the whole state again, after the database was removed or damaged.
    private mutating func storeEverything(_ effects: inout [Effect]) {
        lacksWrite = false
        effects += [.regions(regions), .store(.learned(engine.learnedSource)), .store(.heard(heard))]
        for (tag, state) in zip(roster.tags, roster.states) {
            effects.append(.store(.tag(id: tag.id, stored(state, ofTag: tag.id))))
        }
        if let version = siteList.version { effects.append(.store(.listVersion(version))) }
        effects += [
            .store(.created(created)), .store(.appliedCommands(appliedCommands)), .store(.openVisits(hasOpenVisits)),
            .store(.topic), .store(.obeyedEnvelopes(gate.obeyed)),
        ]
    }

    // MARK: - What was learned

    private mutating func storeLearned(at now: MonotonicInstant, _ effects: inout [Effect]) {
        learning.due = now.advanced(by: LearnedWrites.period)
        storeAfterTraining(at: now)
        effects += [.store(.learned(engine.learnedSource)), .store(.heard(heard))]
    }

    /// Lets the next write come soon after the next end of a training run: a walk is not to be lost with the power. A client may
    /// request any number of runs, so the rate is limited as after deletions.
    mutating func storeAfterTraining(at now: MonotonicInstant) {
        let ends = engine.trainingEnds.map { $0.advanced(by: LearnedWrites.trainingRest) }
        guard let due = learning.due, let end = ends.filter({ $0 > now }).min() else { return }
        learning.due = min(due, max(end, now.advanced(by: LearnedWrites.forgettingPeriod)))
    }

    /// Stores a deletion by a user at once. All learned data is written for it, so the rate is limited: a client with
    /// the right to write cards must not cause endless writes.
    mutating func storeForgotten(at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard learning.due != nil else { return }
        if let last = learning.forgotten, last.duration(to: now) < LearnedWrites.forgettingPeriod {
            learning.due = last.advanced(by: LearnedWrites.forgettingPeriod)
            return
        }
        learning.forgotten = now
        storeLearned(at: now, &effects)
    }

    // MARK: - Requests of the page

    /// Why a request of the page is refused; nil if `handle` carries it out.
    package func refusal(of request: Request) -> String? {
        switch request {
        case .learn(.train(_, let tag, _)) where !tags.contains(where: { $0.id == tag || $0.name == tag }):
            return "there is no such tag"
        // Sent through the broker, as from the command line, so that the other services of the site receive it too.
        case .learn, .search: return retained.connected == nil ? "there is no connection to the broker" : nil
        case .addTag, .renameTag, .removeTag, .adoptTags:
            // A change before the stored state is read would overwrite that state.
            return isStarted ? tagRefusal(of: request) : "the service has not read its state yet"
        }
    }

    private mutating func carryOut(_ request: Request, at now: MonotonicInstant, _ effects: inout [Effect]) {
        switch request {
        case .learn(let request): effects.append(.send(.learn(request)))
        case .search(let duration): effects += [.send(.nearbyRequest(duration)), .pageChanged]
        case .adoptTags: adoptList(at: now, &effects)
        case .addTag, .renameTag, .removeTag: change(tags: tagChanges(of: request, at: now), at: now, &effects)
        }
    }

    // MARK: - Rejected messages

    mutating func refuse(_ error: FeedError, _ effects: inout [Effect]) {
        counters.malformed += 1
        effects.append(.refused(error))
    }

    /// The broker has a message that cannot be decrypted. A correct one replaces it.
    private mutating func handleSealed(
        _ topic: RoomTopic, _ reason: String, isRetained: Bool, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        let isNews = isNews(isRetained: isRetained, at: now)
        switch topic {
        case .tag(_, let id): if isNews { retained.tags.record(id, .unreadable) }
        case .room(_, let id): if isNews { retained.rooms.record(id, .unreadable) }
        case .health(_, let gateway): if isNews { retained.health.record(gateway, .unreadable) }
        case .tags: receive(SiteList.Arrival(reason: reason), at: now, &effects)
        case .service(_, let name) where name != election?.instance:
            // Any client can publish such a card.
            effects.append(
                .log(
                    .notice,
                    "a card of the service '\(name)' cannot be decrypted; it has another key of the site, or another "
                        + "client uses its name: \(reason)", once: "service key"))
            return
        default: break
        }
        effects.append(.log(.warning, "a message on \(topic.text) was refused: \(reason)", once: "sealed"))
    }
}
