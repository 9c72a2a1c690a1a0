package import Base
import Health
import Rooms
package import SiteProtocol

/// What the broker retains of a site, as far as known: the states of tags, rooms and gateways, and the
/// descriptions for Home Assistant.
struct RetainedSite: Sendable {
    /// Time after connecting for the broker's retained messages to arrive.
    static let settling: Duration = .seconds(2)
    /// Time between two checks of the gateways.
    static let period: Duration = .seconds(5)
    /// Time between two removals of obsolete states, of `RetainedStates.mostRemovals` of each kind.
    static let removalPeriod: Duration = .milliseconds(125)

    /// Time for which gateways must listen until a tag of which no state is known, and that none of them hears, is away: longer
    /// than a beacon is silent between two packets.
    static let unheardPeriod: Duration = .seconds(90)

    var tags = RetainedStates<PublishedTag>()
    var rooms = RetainedStates<PublishedRoom>()
    var health = RetainedStates<HealthMessage>()
    /// The payloads of descriptions, by topic.
    var entities = RetainedStates<ExactString>()
    /// nil if Home Assistant's discovery is off.
    var discovery: SiteDiscovery?
    /// When the connection was made; nil without a connection.
    var connected: MonotonicInstant?
    /// When the states are due for the next check; nil before the first connection.
    var due: MonotonicInstant?
    /// When the next obsolete states are due for removal; nil if there are none.
    var removalDue: MonotonicInstant?
    /// When tags that were not heard are away; nil while this service is not active, and while no gateway listens.
    var unheardDue: MonotonicInstant?
    /// The state from which the last reports were made; nil if everything must be compared again.
    var shape: Shape?
    /// Whether Home Assistant has announced its start and was not answered yet.
    var isHomeAssistantNew = false

    /// What `correctRetained` makes its reports from, except the states of tags.
    struct Shape: Hashable, Sendable {
        var tags: [TagIdentity]
        var rooms: [RoomName]
        var gateways: [Gateway]
    }

    struct Gateway: Hashable, Sendable {
        var health: GatewayHealth
        var hasCard: Bool
    }

    init(_ settings: SiteSettings) { discovery = settings.discovery.map(SiteDiscovery.init) }

    /// A connection was made: the broker's retained messages arrive.
    mutating func begin(at now: MonotonicInstant) {
        (tags, rooms, health, entities) = (.init(), .init(), .init(), .init())
        (connected, shape, due, removalDue) = (now, nil, now.advanced(by: Self.settling), nil)
    }

    /// Whether obsolete states are still to be removed.
    var hasObsolete: Bool {
        tags.hasObsolete || rooms.hasObsolete || health.hasObsolete || entities.hasObsolete
    }

    /// One of them, for the log.
    var example: String? {
        tags.nextObsolete.map { "tag '\($0)'" } ?? rooms.nextObsolete.map { "room '\($0)'" }
            ?? health.nextObsolete.map { "gateway '\($0)'" } ?? entities.nextObsolete
    }

    func isSettled(at now: MonotonicInstant) -> Bool {
        connected.map { $0.duration(to: now) >= Self.settling } ?? false
    }
}

/// Keeps the retained messages of a site correct between decisions: after the broker lost them, and after a removal.
extension Site {
    /// Whether a retained state that arrives may differ from what this service published.
    func isNews(at now: MonotonicInstant) -> Bool { !isActive || !retained.isSettled(at: now) }

    /// The same for a state that the broker had retained. If there are very many, they arrive until after the first comparison,
    /// and are compared again.
    mutating func isNews(isRetained: Bool, at now: MonotonicInstant) -> Bool {
        if isRetained { retained.shape = nil }
        return isRetained || isNews(at: now)
    }

    mutating func recordEntity(_ message: Publication, isRetained: Bool, at now: MonotonicInstant) {
        guard isNews(isRetained: isRetained, at: now) else { return }
        retained.entities.record(message.topic, message.payload.isEmpty ? .absent : .value(ExactString(message.text)))
    }

    /// Brings the broker and Home Assistant up to date. The call is cheap if nothing changed.
    ///
    /// Without a connection, the last known state of the gateways is used.
    mutating func correctRetained(at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard isActive else {
            // Another service writes now. The retained messages are compared again when this one takes over.
            retained.shape = nil
            return
        }
        let old = retained.shape
        guard retained.isSettled(at: now) || (retained.connected == nil && old != nil) else { return }
        let new = RetainedSite.Shape(
            tags: roster.tags, rooms: engine.trustedRooms, gateways: retainedGateways(at: now))
        // Descriptions come before the states to which they refer.
        if old.map(new.isDescribed(like:)) != true || retained.isHomeAssistantNew { describe(new, &effects) }
        let isRenamed = new.rooms != old?.rooms && roster.rename(to: new.rooms)
        if new.tags != old?.tags || isRenamed {
            let before = retained.tags
            var lost: [String: PublishedTag] = [:]
            for (id, state) in retained.tags.update(to: retainedTags) {
                publish(.tag(id: id, state), &effects)
                if let state, before.value(of: id) == nil { lost[id] = state }
            }
            // A broker that lost the state of a tag lost its location, too.
            publishLocations(of: lost, &effects)
        }
        if new.tags != old?.tags || new.rooms != old?.rooms {
            for (id, state) in retained.rooms.update(to: retainedRooms) { publish(.room(id: id, state), &effects) }
        }
        if new.gateways != old?.gateways {
            for (gateway, health) in retained.health.update(to: new.health) {
                publish(.health(gateway: gateway, health), &effects)
            }
        }
        retained.shape = new
        var removals = retained.discovery?.messagesDue(at: now) ?? []
        if retained.isHomeAssistantNew { removals += retained.discovery?.messagesAtBirth(at: now) ?? [] }
        for message in removals { publish(.entity(message), &effects) }
        retained.isHomeAssistantNew = false
        guard retained.hasObsolete, retained.removalDue == nil else { return }
        retained.removalDue = now.advanced(by: RetainedSite.removalPeriod)
        effects.append(
            .log(
                .warning,
                "the broker retains many states of tags, rooms or gateways that the site does not have, such as "
                    + "\(retained.example ?? ""); they are removed", once: "obsolete states"))
    }

    /// Removes some of the states that the last comparison found to be obsolete. All at once they would be a decision too large
    /// for one turn and for the memory of the store: any client may have written any number of them.
    mutating func removeObsolete(at now: MonotonicInstant, _ effects: inout [Effect]) {
        retained.removalDue = nil
        guard isActive, retained.connected != nil else { return }
        for (id, _) in retained.tags.removals() { publish(.tag(id: id, nil), &effects) }
        for (id, _) in retained.rooms.removals() { publish(.room(id: id, nil), &effects) }
        for (gateway, _) in retained.health.removals() { publish(.health(gateway: gateway, nil), &effects) }
        for (topic, payload) in retained.entities.removals() {
            retained.discovery?.recordRemoval(of: topic, payload: payload?.text)
            publish(.entity(.homeAssistant(topic, "")), &effects)
        }
        if retained.hasObsolete {
            retained.removalDue = now.advanced(by: RetainedSite.removalPeriod)
        } else {
            effects.append(.obsoleteRemoved)
        }
    }

    /// Replaces the state of a tag that the broker retains as at home, although this service knows no state of the tag and no
    /// gateway hears it: the stored states were lost, and the tag has gone meanwhile. Nothing but the state is published, because
    /// any client may have written it.
    mutating func correctUnheard(at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard isActive, retained.isSettled(at: now), engine.isListening else { return retained.unheardDue = nil }
        let due = retained.unheardDue ?? now.advanced(by: RetainedSite.unheardPeriod)
        retained.unheardDue = due
        guard due <= now else { return }
        let unheard = roster.tags.indices.lazy.filter { [roster, retained] position in
            roster.states[position].since == 0 && retained.tags.value(of: roster.tags[position].id)?.isHome == true
        }
        for position in unheard.prefix(RetainedStates<PublishedTag>.mostRemovals) {
            let tag = roster.tags[position]
            unstamped[tag.id] = wallClock.isKnown ? nil : now
            roster.adopt(PublishedTag(name: tag.name, since: epoch(at: now)), ofTag: position)
            publish(.tag(id: tag.id, roster.states[position]), &effects)
        }
    }

    /// The states of tags that the broker should retain; nil if none was published yet.
    package var retainedTags: [(id: String, value: PublishedTag?)] {
        zip(roster.tags, roster.states).map { ($0.id, $1.since == 0 ? nil : $1) }
    }

    /// The states of rooms that the broker should retain.
    package var retainedRooms: [(id: String, value: PublishedRoom?)] {
        engine.trustedRooms.map { ($0.id, roster.state(of: $0)) }
    }

    /// The gateways about which something is published: any client may invent others.
    private func retainedGateways(at now: MonotonicInstant) -> [RetainedSite.Gateway] {
        guard let connected = retained.connected else { return retained.shape?.gateways ?? [] }
        return gatewayHealth(at: now, connected: connected).filter { engine.isTrusted(gateway: $0.name) }.map {
            RetainedSite.Gateway(health: $0, hasCard: !settings.areCardsSealed && gateways.cards[$0.name] != nil)
        }
    }

    /// The health of the gateways, including whether their messages can be decrypted.
    ///
    /// - Parameter connected: Since when their messages can arrive.
    package func gatewayHealth(at now: MonotonicInstant, connected: MonotonicInstant) -> [GatewayHealth] {
        engine.gatewayHealth(at: now, connected: connected).map { health in
            guard health.trouble != .offline, gateways.strangers.contains(health.name) else { return health }
            return GatewayHealth(name: health.name, room: health.room, isListening: false, trouble: .wrongKey)
        }
    }

    private mutating func describe(_ shape: RetainedSite.Shape, _ effects: inout [Effect]) {
        guard let wanted = retained.discovery?.descriptions(of: picture(shape)) else { return }
        let before = retained.entities
        let changes = retained.entities.update(
            to: wanted.map { ($0.topic, ExactString($0.text)) }, isAgain: retained.isHomeAssistantNew)
        for (topic, payload) in changes {
            retained.discovery?.recordRemoval(of: topic, payload: payload == nil ? before.value(of: topic)?.text : nil)
            publish(.entity(.homeAssistant(topic, payload?.text ?? "")), &effects)
        }
    }

    private func picture(_ shape: RetainedSite.Shape) -> SiteDiscovery.Picture {
        var picture = SiteDiscovery.Picture(instance: election?.instance ?? "")
        picture.tags = shape.tags.map { .init(id: $0.id, name: $0.name) }
        picture.rooms = shape.rooms.map { .init(id: $0.id, name: $0.name) }
        picture.gateways = shape.gateways.map {
            .init(name: $0.health.name, hasCard: $0.hasCard, room: $0.health.room.name)
        }
        return picture
    }
}

extension RetainedSite.Shape {
    /// Whether Home Assistant has the same descriptions of another shape. A gateway's health is in its state.
    fileprivate func isDescribed(like other: Self) -> Bool {
        tags == other.tags && rooms == other.rooms && gateways.count == other.gateways.count
            && zip(gateways, other.gateways).allSatisfy {
                $0.hasCard == $1.hasCard && $0.health.name == $1.health.name && $0.health.room == $1.health.room
            }
    }

    fileprivate var health: [(id: String, value: HealthMessage?)] {
        gateways.map { gateway in
            let health = gateway.health
            return (
                health.name,
                HealthMessage(room: health.room.name, isListening: health.isListening, trouble: health.trouble)
            )
        }
    }
}
