import Base
import Health
import Rooms
import SiteProtocol

/// What the broker retains of a site, as far as known: the states of tags, rooms and gateways, and the descriptions for Home Assistant.
///
/// It keeps them correct between decisions: after the broker lost them, and after a removal. It owns what is known of the broker, and
/// when that is compared next. What the broker should have comes in as arguments.
struct RetainedSite: Sendable {
    /// Time after connecting for the broker's retained messages to arrive.
    private static let settling: Duration = .seconds(2)
    /// Time between two checks of the gateways.
    private static let period: Duration = .seconds(5)
    /// Time between two removals of obsolete states, of `RetainedStates.mostRemovals` of each kind.
    private static let removalPeriod: Duration = .milliseconds(125)
    /// Time for which gateways must listen before a tag without a known state that none of them hears is away: longer
    /// than a beacon is silent between two packets.
    private static let unheardPeriod: Duration = .seconds(90)

    /// The name of the service whose connectivity Home Assistant shows.
    private let instance: String
    private(set) var tags = RetainedStates<PublishedTag>()
    private var rooms = RetainedStates<PublishedRoom>()
    private var health = RetainedStates<HealthMessage>()
    /// The payloads of descriptions, by topic.
    private var entities = RetainedStates<ExactString>()
    /// nil if Home Assistant's discovery is off.
    private(set) var discovery: SiteDiscovery?
    /// When the connection was made; nil without a connection.
    private(set) var connected: MonotonicInstant?
    /// When the states are due for the next check; nil before the first connection.
    private var due: MonotonicInstant?
    /// When the next obsolete states are due for removal; nil if there are none.
    private var removalDue: MonotonicInstant?
    /// When tags that were not heard are away; nil while this service is not active, and while no gateway listens.
    private var unheardDue: MonotonicInstant?
    /// What the last reports were made from; nil if everything must be compared again.
    private var compared: Content?
    /// The rounds of descriptions and states that starts of Home Assistant cause.
    private var births = RoundLimit(pause: .seconds(30))
    /// Whether Home Assistant has announced its start and has not been answered yet.
    private var isHomeAssistantNew = false

    /// What is published of a site, except the states of tags.
    fileprivate struct Content: Hashable, Sendable {
        let tags: [TagIdentity]
        let rooms: [RoomName]
        let gateways: [Gateway]
        let floors: SiteFloors
    }

    struct Gateway: Hashable, Sendable {
        let health: GatewayHealth
        let hasCard: Bool
    }

    init(_ settings: SiteSettings) {
        instance = settings.instance ?? ""
        discovery = settings.discovery.map(SiteDiscovery.init)
    }

    // MARK: - Time and connection

    /// When `tick` has something to do; nil before the first connection.
    var nextDeadline: MonotonicInstant? { [due, births.due, removalDue].compactMap(\.self).min() }

    /// A connection was made: the broker's retained messages arrive.
    mutating func connected(at now: MonotonicInstant) {
        (tags, rooms, health, entities) = (.init(), .init(), .init(), .init())
        (connected, compared, due, removalDue) = (now, nil, now.advanced(by: Self.settling), nil)
    }

    mutating func disconnected() { connected = nil }

    /// Whether the broker's retained messages have arrived.
    func isSettled(at now: MonotonicInstant) -> Bool {
        connected.map { $0.duration(to: now) >= Self.settling } ?? false
    }

    /// Whether the next check is due. It counts as made.
    mutating func beginCheck(at now: MonotonicInstant) -> Bool {
        guard let due, due <= now else { return false }
        self.due = now.advanced(by: Self.period)
        return true
    }

    /// Home Assistant has announced its start. Any client may publish that, so the rounds that follow are limited.
    ///
    /// - Returns: Whether a round begins now, with `correct`.
    mutating func homeAssistantStarted(at now: MonotonicInstant) -> Bool {
        guard births.want(at: now) else { return false }
        isHomeAssistantNew = true
        return true
    }

    /// Whether a round begins that a start of Home Assistant asked for.
    ///
    /// - Parameter isActive: Whether this service answers it.
    mutating func beginRound(isActive: Bool, at now: MonotonicInstant) -> Bool {
        guard births.begin(at: now), isActive else { return false }
        isHomeAssistantNew = true
        return true
    }

    // MARK: - What arrives, and what is published

    /// A state of a tag, a room or a gateway arrived.
    mutating func receive(_ message: SiteMessage, isRetained: Bool, isActive: Bool, at now: MonotonicInstant) {
        guard isNews(isRetained: isRetained, isActive: isActive, at: now) else { return }
        switch message {
        case .tag(let id, let state): tags.record(id, state)
        case .room(let id, let state): rooms.record(id, state)
        case .health(let gateway, let state): health.record(gateway, state)
        // The service retains none of these.
        case .heard, .nodeHeard, .aliasHeard, .alias, .nodeTelemetry, .available, .card, .tags, .service, .learn,
            .nearby:
            break
        }
    }

    /// A message arrived that cannot be decrypted.
    mutating func receive(sealed topic: RoomTopic, isRetained: Bool, isActive: Bool, at now: MonotonicInstant) {
        guard isNews(isRetained: isRetained, isActive: isActive, at: now) else { return }
        switch topic {
        case .tag(_, let id): tags.record(id, .unreadable)
        case .room(_, let id): rooms.record(id, .unreadable)
        case .health(_, let gateway): health.record(gateway, .unreadable)
        // The service retains none of these, or they have parts of their own.
        case .tags, .heard, .card, .learn, .refused, .answer, .service, .nearbyRequest, .nearby, .phones,
            .availability, .espresense, .espresenseAlias, .espresenseSettings, .espresenseStatus, .espresenseTelemetry:
            break
        }
    }

    /// The description of an entity arrived.
    mutating func receive(entity message: Publication, isRetained: Bool, isActive: Bool, at now: MonotonicInstant) {
        guard isNews(isRetained: isRetained, isActive: isActive, at: now) else { return }
        entities.record(message.topic, message.payload.isEmpty ? .absent : .value(ExactString(message.text)))
    }

    /// Whether a state that arrives may differ from what this service published. One that the broker had retained may: if there are
    /// very many, they arrive until after the first comparison, and are compared again.
    private mutating func isNews(isRetained: Bool, isActive: Bool, at now: MonotonicInstant) -> Bool {
        if isRetained { compared = nil }
        return isRetained || !isActive || !isSettled(at: now)
    }

    /// Records the states among these effects: the broker will get them from the outbox.
    mutating func record(_ effects: ArraySlice<Site.Effect>) {
        for case .publish(let publication) in effects {
            switch publication {
            case .tag(let id, let state): tags.record(id, state.map(Retained.value) ?? .absent)
            case .room(let id, let state): rooms.record(id, state.map(Retained.value) ?? .absent)
            // Sent once, or recorded where they are compared.
            case .transition, .location, .health, .tags, .card, .cardRemoved, .learn, .refused, .answer, .nearbyRequest,
                .entity, .virtualNode:
                break
            }
        }
    }

    // MARK: - Correction

    /// Another service writes now. The retained messages are compared again when this one takes over.
    mutating func compareAgain() { compared = nil }

    /// Whether the states can be compared. Without a connection, the last known state of the gateways is used.
    func isComparable(at now: MonotonicInstant) -> Bool {
        isSettled(at: now) || (connected == nil && compared != nil)
    }

    /// The gateways of the last comparison.
    var comparedGateways: [Gateway] { compared?.gateways ?? [] }

    /// Brings the broker and Home Assistant up to date. The call is cheap if nothing changed.
    ///
    /// - Parameters:
    ///   - states: The states of the tags. They adopt other spellings of the rooms' names.
    ///   - siteRooms: The rooms with a gateway that counts.
    ///   - gateways: The gateways that count.
    mutating func correct(
        _ states: inout TagStates, _ siteRooms: [RoomName], _ gateways: [Gateway], at now: MonotonicInstant,
        _ effects: inout [Site.Effect]
    ) {
        let old = compared
        let new = Content(tags: states.roster.tags, rooms: siteRooms, gateways: gateways, floors: states.roster.floors)
        // Descriptions come before the states to which they refer.
        if old.map(new.isDescribed(like:)) != true || isHomeAssistantNew { describe(new, &effects) }
        let isRenamed = new.rooms != old?.rooms && states.rename(to: new.rooms)
        if new.tags != old?.tags || isRenamed { correctTags(states, &effects) }
        if new.tags != old?.tags || new.rooms != old?.rooms || new.floors != old?.floors {
            for (id, state) in rooms.update(to: states.retained(new.rooms)) {
                effects.append(.publish(.room(id: id, state)))
            }
        }
        if new.gateways != old?.gateways {
            for (gateway, health) in health.update(to: new.health) {
                effects.append(.publish(.health(gateway: gateway, health)))
            }
        }
        compared = new
        var removals = discovery?.messagesDue(at: now) ?? []
        if isHomeAssistantNew { removals += discovery?.messagesAtBirth(at: now) ?? [] }
        effects += removals.map { .publish(.entity($0)) }
        isHomeAssistantNew = false
        guard hasObsolete, removalDue == nil else { return }
        removalDue = now.advanced(by: Self.removalPeriod)
        effects.append(
            .log(
                .warning,
                "the broker retains many states of tags, rooms or gateways that the site does not have, such as "
                    + "\(obsolete ?? ""); they are removed", once: "obsolete states"))
    }

    private mutating func correctTags(_ states: TagStates, _ effects: inout [Site.Effect]) {
        let before = tags
        var lost: [String: PublishedTag] = [:]
        for (id, state) in tags.update(to: states.retained) {
            states.publish(state, ofTag: id, &effects)
            if let state, before.value(of: id) == nil { lost[id] = state }
        }
        // A broker that lost the state of a tag lost its location, too.
        states.reportLocations(of: lost, &effects)
    }

    private mutating func describe(_ content: Content, _ effects: inout [Site.Effect]) {
        guard let wanted = discovery?.descriptions(of: content.inventory(instance)) else { return }
        let before = entities
        let changes = entities.update(
            to: wanted.map { ($0.topic, ExactString($0.text)) }, isAgain: isHomeAssistantNew)
        for (topic, payload) in changes {
            discovery?.recordRemoval(of: topic, payload: payload == nil ? before.value(of: topic)?.text : nil)
            effects.append(.publish(.entity(.homeAssistant(topic, payload?.text ?? ""))))
        }
    }

    /// Replaces the state of a tag that the broker retains as at home, although this service knows no state of the tag and no
    /// gateway hears it: the stored states were lost, and the tag has gone meanwhile. Nothing but the state is published, because
    /// any client may have written it.
    ///
    /// - Parameter isListening: Whether this service is active and a gateway listens.
    mutating func correctUnheard(
        _ states: inout TagStates, isListening: Bool, _ clock: WallClock, at now: MonotonicInstant,
        _ effects: inout [Site.Effect]
    ) {
        guard isListening, isSettled(at: now) else { return unheardDue = nil }
        let due = unheardDue ?? now.advanced(by: Self.unheardPeriod)
        unheardDue = due
        guard due <= now else { return }
        let first = effects.count
        let unheard = states.roster.tags.indices.lazy.filter { [roster = states.roster, tags] in
            roster.states[$0].since == 0 && tags.value(of: roster.tags[$0].id)?.isHome == true
        }
        for index in unheard.prefix(RetainedStates<PublishedTag>.mostRemovals) {
            states.publishUnheard(index, clock, at: now, &effects)
        }
        record(effects[first...])
    }

    // MARK: - Removal

    /// Whether obsolete states are still to be removed.
    private var hasObsolete: Bool {
        tags.hasObsolete || rooms.hasObsolete || health.hasObsolete || entities.hasObsolete
    }

    /// One of them, for the log.
    private var obsolete: String? {
        tags.nextObsolete.map { "tag '\($0)'" } ?? rooms.nextObsolete.map { "room '\($0)'" }
            ?? health.nextObsolete.map { "gateway '\($0)'" } ?? entities.nextObsolete
    }

    /// Removes some of the states that the last comparison found to be obsolete, if that is due. All at once they would be a decision
    /// too large for one turn and for the memory of the store: any client may have written any number of them.
    ///
    /// - Parameter isActive: Whether this service writes.
    mutating func removeObsolete(
        _ states: TagStates, isActive: Bool, at now: MonotonicInstant, _ effects: inout [Site.Effect]
    ) {
        guard let due = removalDue, due <= now else { return }
        removalDue = nil
        guard isActive, connected != nil else { return }
        for (id, _) in tags.removals() { states.publish(nil, ofTag: id, &effects) }
        for (id, _) in rooms.removals() { effects.append(.publish(.room(id: id, nil))) }
        for (gateway, _) in health.removals() { effects.append(.publish(.health(gateway: gateway, nil))) }
        for (topic, payload) in entities.removals() {
            discovery?.recordRemoval(of: topic, payload: payload?.text)
            effects.append(.publish(.entity(.homeAssistant(topic, ""))))
        }
        if hasObsolete {
            removalDue = now.advanced(by: Self.removalPeriod)
        } else {
            effects.append(.obsoleteRemoved)
        }
    }
}

extension RetainedSite.Content {
    /// Whether other content leads to the same descriptions in Home Assistant. A gateway's health is in its state.
    fileprivate func isDescribed(like other: Self) -> Bool {
        tags == other.tags && rooms == other.rooms && gateways.count == other.gateways.count
            && zip(gateways, other.gateways).allSatisfy {
                $0.hasCard == $1.hasCard && $0.health.name == $1.health.name && $0.health.room == $1.health.room
            }
    }

    fileprivate var health: [(id: String, value: HealthMessage?)] {
        gateways.map { gateway in
            let health = gateway.health
            let message = HealthMessage(
                room: health.room.name, isListening: health.isListening, trouble: health.trouble,
                formerRoom: health.formerRoom?.name, survey: health.survey)
            return (health.name, message)
        }
    }

    /// What is described to Home Assistant.
    ///
    /// - Parameter instance: The name of the active service.
    fileprivate func inventory(_ instance: String) -> SiteDiscovery.Inventory {
        var inventory = SiteDiscovery.Inventory(instance: instance)
        inventory.tags = tags.map { .init(id: $0.id, name: $0.name) }
        inventory.rooms = rooms.map { .init(id: $0.id, name: $0.name) }
        inventory.gateways = gateways.map {
            .init(name: $0.health.name, hasCard: $0.hasCard, room: $0.health.room.name)
        }
        return inventory
    }
}
