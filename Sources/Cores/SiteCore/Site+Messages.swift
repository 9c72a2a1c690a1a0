import Base
import Beacon
import JSON
import Rooms
package import SiteProtocol

/// What is known about the gateways of a site outside the engine, by name. It holds at most twice as many gateways as the engine
/// accepts.
package struct GatewayTable: Sendable {
    /// ESPresense nodes have no card.
    package private(set) var cards: [String: GatewayCard] = [:]
    /// How many cards of gateways that count name each phone.
    private var phones: [BeaconUUID: Int] = [:]
    /// Gateways that count and have a card with phones.
    private var phoneGateways: Set<String> = []
    /// Whether the cards name other phones than when this was last reset.
    var areOtherPhones = false
    /// Whether cards were dropped since the connection was made, because there was no place.
    var hasDroppedCards = false
    /// Gateways that are offline according to the broker.
    private(set) var offline: Set<String> = []
    /// What arrived on the topics of ibeacon-gateways. Messages of an ESPresense node in the room of one that feeds are ignored.
    private var feeds: [String: Feed] = [:]
    /// Gateways whose messages cannot be decrypted.
    package internal(set) var strangers: Set<String> = []
    /// The names under which gateways with cards publish as ESPresense nodes, by gateway.
    private var nodeNames: [String: String] = [:]
    private var gatewaysOfNode: [String: Set<String>] = [:]

    package static let most = 2 * RoomEngine.mostGateways

    /// The readings that arrive in the name of an ibeacon-gateway.
    private struct Feed: Sendable {
        /// A gateway sends at least every ten seconds.
        private static let silence: Duration = .seconds(25)

        /// One message proves nothing: any client may send it.
        private var acquaintance = Acquaintance.unknown
        private var latest: MonotonicInstant

        init(at now: MonotonicInstant) { latest = now }

        mutating func record(boot: String, at now: MonotonicInstant) {
            if latest.duration(to: now) > Self.silence { acquaintance = .unknown }
            _ = acquaintance.record(boot: boot, at: now)
            latest = now
        }

        func isActive(at now: MonotonicInstant) -> Bool {
            acquaintance == .known && latest.duration(to: now) <= Self.silence
        }
    }

    /// In a full table, a gateway that was not heard gives way.
    ///
    /// - Returns: Whether this changed anything.
    mutating func record(_ card: GatewayCard?, of gateway: String, in engine: RoomEngine) -> Bool {
        guard cards[gateway] != card else { return false }
        if cards[gateway] == nil, cards.count >= Self.most {
            hasDroppedCards = true
            guard let other = cards.keys.first(where: { !engine.isHeard(gateway: $0) }) else { return false }
            setCard(nil, of: other)
        }
        setCard(card, of: gateway)
        return true
    }

    private mutating func setCard(_ card: GatewayCard?, of gateway: String) {
        let counts = phoneGateways.contains(gateway)
        countPhones(of: gateway, false)
        cards[gateway] = card
        countPhones(of: gateway, counts)
        setNode(card?.room.map { TopicIdentifier.identifier(of: $0) }, of: gateway)
    }

    /// Lets the phones in a gateway's card count, or no longer. Any client can write the card of a gateway that sends nothing, and
    /// each tag that it calls a phone would leave minutes later.
    mutating func countPhones(of gateway: String, _ counts: Bool) {
        guard let named = cards[gateway]?.phones, !named.isEmpty, counts != phoneGateways.contains(gateway) else {
            return
        }
        if counts { phoneGateways.insert(gateway) } else { phoneGateways.remove(gateway) }
        for phone in named {
            let count = phones[phone, default: 0] + (counts ? 1 : -1)
            if count == (counts ? 1 : 0) { areOtherPhones = true }
            phones[phone] = count > 0 ? count : nil
        }
    }

    /// Whether a gateway that counts says that this is the UUID of a phone.
    func isPhone(_ uuid: BeaconUUID) -> Bool { phones[uuid] != nil }

    /// The same for a gateway that the broker calls offline.
    mutating func record(isOffline: Bool, _ gateway: String, in engine: RoomEngine) {
        guard isOffline else { return _ = offline.remove(gateway) }
        if !offline.contains(gateway), offline.count >= Self.most {
            guard let other = offline.first(where: { !engine.isHeard(gateway: $0) }) else { return }
            offline.remove(other)
        }
        offline.insert(gateway)
    }

    /// Records a message on the topic of an ibeacon-gateway. In a full table, one that does not feed gives way.
    mutating func recordFeed(of gateway: String, boot: String, at now: MonotonicInstant) {
        if feeds[gateway] == nil {
            if feeds.count >= RoomEngine.mostGateways {
                guard let other = feeds.first(where: { !$0.value.isActive(at: now) }) else { return }
                feeds[other.key] = nil
            }
            feeds[gateway] = Feed(at: now)
        }
        feeds[gateway]?.record(boot: boot, at: now)
    }

    /// Whether readings of an ibeacon-gateway with this name arrive, so many that they cannot be a single invented message.
    func isFeeding(_ gateway: String, at now: MonotonicInstant) -> Bool { feeds[gateway]?.isActive(at: now) ?? false }

    /// The gateways that publish as an ESPresense node of this name, if they are set to.
    func gateways(ofNode node: String) -> Set<String> { gatewaysOfNode[node] ?? [] }

    private mutating func setNode(_ node: String?, of gateway: String) {
        guard node != nodeNames[gateway] else { return }
        if let old = nodeNames[gateway] {
            gatewaysOfNode[old]?.remove(gateway)
            if gatewaysOfNode[old]?.isEmpty == true { gatewaysOfNode[old] = nil }
        }
        nodeNames[gateway] = node
        if let node { gatewaysOfNode[node, default: []].insert(gateway) }
    }
}

extension Site {
    /// Largest number of services whose cards are remembered.
    private static let mostServices = 32

    mutating func receive(
        _ message: SiteMessage, isRetained: Bool, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        switch message {
        case .heard, .nodeHeard, .nodeTelemetry, .learn:
            guard !isRetained else {
                counters.retained += 1
                return
            }
        default: break
        }
        switch message {
        case .heard(let gateway, let second):
            gateways.recordFeed(of: gateway, boot: second.boot, at: now)
            // Its place was another's meanwhile.
            if !engine.hasRoom(gateway: gateway) {
                place(gateway, in: gateways.cards[gateway]?.room, at: now, &effects)
            }
            pass(.heard(gateway: gateway, second), at: now, &effects)
            fetchCard(of: gateway, &effects)
            countPhones(of: gateway, at: now, &effects)
        case .nodeHeard(let node, let second): hear(second, of: node, at: now, &effects)
        case .nodeTelemetry(let node):
            if feed(inPlaceOf: node, at: now) == nil { pass(.telemetry(node: node), at: now, &effects) }
        case .available(let gateway, let isAvailable):
            gateways.record(isOffline: isAvailable == false, gateway, in: engine)
            pass(.available(gateway: gateway, isAvailable == true), at: now, &effects)
        case .card(let gateway, let card): receive(card, of: gateway, at: now, &effects)
        case .tags(let list): receive(SiteList.Arrival(list: list, isLive: !isRetained), at: now, &effects)
        case .tag(let id, let state): receive(state, ofTag: id, isRetained: isRetained, at: now, &effects)
        case .room(let id, let state):
            if isNews(isRetained: isRetained, at: now) { retained.rooms.record(id, state) }
        case .health(let gateway, let health):
            if isNews(isRetained: isRetained, at: now) { retained.health.record(gateway, health) }
        case .service(let instance, let card): receive(card, ofService: instance, isRetained, at: now, &effects)
        case .learn(.train(let room, let tag, let duration)):
            let id = roster.id(named: tag)
            if roster.position(ofTag: id) == nil {
                let text = "the training of '\(shortened(room))' was refused: there is no tag '\(shortened(tag))'"
                effects.append(.log(.warning, text, once: "training"))
            }
            pass(.learn(room: room, tag: id, duration), at: now, &effects)
            storeAfterTraining(at: now)
        case .learn(.forget(let room)):
            let wasLearned = engine.isLearned(room: room)
            pass(.forgetRoom(room), at: now, &effects)
            if wasLearned { correctRetained(at: now, &effects) }
            storeForgotten(at: now, &effects)
        // Only the page shows these beacons.
        case .nearby: break
        }
    }

    /// Asks for the cards that the broker retains if that of a gateway that counts now was dropped: any client may have written so
    /// many that there was no place for it. A gateway that counts keeps its card.
    private mutating func fetchCard(of gateway: String, _ effects: inout [Effect]) {
        guard gateways.hasDroppedCards, gateways.cards[gateway] == nil, engine.isTrusted(gateway: gateway),
            !engine.hasRoom(gateway: gateway)
        else { return }
        gateways.hasDroppedCards = false
        effects.append(.cardMissing)
    }

    /// The room of an ESPresense node is its name, unless the configuration says otherwise.
    private mutating func hear(
        _ second: HeardSecond, of node: String, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        switch feed(inPlaceOf: node, at: now) {
        case .active: return recordRival(node, at: now, &effects)
        case .expected: return
        case nil: break
        }
        let configured = settings.gateways[node]
        if !engine.hasRoom(gateway: node) || isMoved(node, to: configured ?? node, at: now) {
            pass(
                .card(gateway: node, room: configured ?? node, isConfigured: configured != nil), at: now, &effects)
        }
        pass(.heard(gateway: node, second), at: now, &effects)
    }

    /// Whether a node has another room than it should: what was learned keeps it in the room that the configuration gave it in an
    /// earlier run. The card of an ibeacon-gateway with the node's name, which says its room, has arrived by then.
    private func isMoved(_ node: String, to room: String, at now: MonotonicInstant) -> Bool {
        retained.isSettled(at: now) && gateways.cards[node] == nil
            && engine.roomID(ofGateway: node) != RoomName.id(of: room)
    }

    /// Readings of an ibeacon-gateway that count in the place of an ESPresense node.
    private enum Feed { case active, expected }

    /// What an ibeacon-gateway feeds for the room of an ESPresense node: both are the same radio, or the gateway itself publishes
    /// the message in the node's name. A new node waits a moment if a gateway with a card is in its room: that gateway counts as
    /// feeding from its third message on.
    private func feed(inPlaceOf node: String, at now: MonotonicInstant) -> Feed? {
        let others = gateways.gateways(ofNode: node).union(engine.gateways(inRoom: RoomName.id(of: node)))
        if gateways.isFeeding(node, at: now) || others.contains(where: { gateways.isFeeding($0, at: now) }) {
            return .active
        }
        guard let connected = retained.connected, connected.duration(to: now) < Self.firstFeed,
            !engine.isTrusted(gateway: node)
        else { return nil }
        return gateways.cards[node] != nil || others.contains { gateways.cards[$0] != nil } ? .expected : nil
    }

    /// After a connection, all gateways have sent three messages within this time.
    private static let firstFeed: Duration = .seconds(25)

    /// The configuration sets the room of some gateways.
    func configuredRoom(ofGateway gateway: String) -> String? {
        settings.gateways[gateway] ?? roomsOfDevices[gateway]
    }

    /// Puts a gateway into the room that the configuration gives it, or else into that of its card.
    private mutating func place(
        _ gateway: String, in room: String?, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        let configured = configuredRoom(ofGateway: gateway)
        guard let room = configured ?? room else { return }
        pass(.card(gateway: gateway, room: room, isConfigured: configured != nil), at: now, &effects)
    }

    /// Says anew which tags are phones, if a gateway with a card begins or ceases to count.
    private mutating func countPhones(of gateway: String, at now: MonotonicInstant, _ effects: inout [Effect]) {
        gateways.countPhones(of: gateway, engine.isTrusted(gateway: gateway))
        if gateways.areOtherPhones { describePhones(at: now, &effects) }
    }

    /// New and removed gateways are published at once, if their messages count.
    private mutating func receive(
        _ card: GatewayCard?, of gateway: String, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        if gateways.record(card, of: gateway, in: engine) { effects.append(.pageChanged) }
        countPhones(of: gateway, at: now, &effects)
        let isFixed = configuredRoom(ofGateway: gateway) != nil
        let isTrusted = engine.isTrusted(gateway: gateway)
        guard let card else {
            if !isFixed { pass(.forget(gateway: gateway), at: now, &effects) }
            guard isTrusted else { return }
            correctRetained(at: now, &effects)
            if !isFixed { storeForgotten(at: now, &effects) }
            return
        }
        place(gateway, in: card.room, at: now, &effects)
        // The configuration may give the gateway its room, and then it counts.
        countPhones(of: gateway, at: now, &effects)
        // The broker may have delivered the availability before the card.
        if gateways.offline.contains(gateway) {
            pass(.available(gateway: gateway, false), at: now, &effects)
        }
        if isTrusted { correctRetained(at: now, &effects) }
    }

    private mutating func receive(
        _ state: Retained<PublishedTag>, ofTag id: String, isRetained: Bool, at now: MonotonicInstant,
        _ effects: inout [Effect]
    ) {
        if isNews(isRetained: isRetained, at: now) { retained.tags.record(id, state) }
        // Any client can leave a state at the broker, without a key. A decision of another service arrives live while that
        // service is active. After a start, only the own store counts.
        guard !isActive, !isRetained, election?.hasActiveOther(at: now) == true, case .value(let state) = state,
            let position = roster.position(ofTag: id)
        else { return }
        roster.adopt(state, ofTag: position)
        // Its times are those of the other service.
        unstamped[id] = nil
        // A service that has stored anything is believed to have a list of tags at its next start.
        guard siteList.version != nil else { return }
        effects.append(.store(.tag(id: id, roster.states[position])))
        if let room = state.room, state.since > 0 { remember(room, state.since, &effects) }
    }

    private mutating func receive(
        _ card: ServiceCard?, ofService instance: String, _ isRetained: Bool, at now: MonotonicInstant,
        _ effects: inout [Effect]
    ) {
        if instance == election?.instance {
            // The broker answers in order: what it retains has arrived before.
            if !isRetained { listIsRead(&effects) }
        } else if !isRetained, card?.isActive == false {
            listIsWanted(at: now, &effects)
            if role == .active { states.want(at: now) }
        }
        // The counter of the active service moves every two seconds.
        let shown = card.map { ServiceCard(isActive: $0.isActive, counter: 0, version: $0.version) }
        if services[instance] != shown, services[instance] != nil || services.count < Self.mostServices {
            services[instance] = shown
            effects.append(.pageChanged)
        }
        guard let card,
            let decided = election?.heard(instance, isActive: card.isActive, counter: card.counter, at: now)
        else { return }
        elect(decided, at: now, &effects)
    }
}
