package import Base
import Beacon
import Regions
package import Rooms
package import SiteProtocol

/// What is known about the gateways of a site outside the engine, by name: their cards, the rooms that the configuration gives them,
/// what they feed, and which tags they call phones. It holds at most twice as many gateways as the engine accepts.
///
/// It answers where a gateway is to be placed, and whether the message of an ESPresense node counts. The engine itself is told by
/// the site.
package struct GatewayTable: Sendable {
    /// Rooms that the configuration gives to gateways, by the names that it uses.
    private let rooms: [String: RoomName]
    /// The same by the names of these gateways in topics, where a name is a `deviceId`.
    private let roomsOfDevices: [String: RoomName]
    /// Whether the cards are encrypted, so that Home Assistant cannot read them.
    private let areCardsSealed: Bool
    /// ESPresense nodes have no card.
    package private(set) var cards: [String: GatewayCard] = [:]
    /// How many cards of gateways that count name each phone.
    private var phones: [BeaconUUID: Int] = [:]
    /// Gateways that count and have a card with phones.
    private var phoneGateways: Set<String> = []
    /// Whether the cards name other phones than when this was last reset.
    private(set) var areOtherPhones = false
    /// Whether cards were dropped since the connection was made, because there was no place.
    private var hasDroppedCards = false
    /// Gateways that are offline according to the broker.
    private var offline: Set<String> = []
    /// What arrived on the topics of ibeacon-gateways. Messages of an ESPresense node in the room of one that feeds are ignored.
    private var feeds: [String: Feed] = [:]
    /// Gateways whose messages cannot be decrypted.
    package private(set) var strangers: Set<String> = []
    /// The names under which gateways with cards publish as ESPresense nodes, by gateway.
    private var nodeNames: [String: String] = [:]
    private var radios = SharedRadios()
    /// What the survey says of each gateway that is asked for a beacon.
    private var survey: [String: SurveyHealth] = [:]
    private var gatewaysOfNode: [String: Set<String>] = [:]
    /// What is said of floors.
    package private(set) var floors: SiteFloors

    /// Largest number of cards, and of gateways that are offline.
    package let most: Int
    /// Largest number of gateways whose feeds are known.
    private let mostFeeds: Int
    /// After a connection, all gateways have sent three messages within this time.
    private static let firstFeed: Duration = .seconds(25)

    /// The readings that arrive in the name of an ibeacon-gateway.
    private struct Feed: Sendable {
        /// A gateway sends at least every ten seconds.
        private static let silence: Duration = .seconds(25)

        /// One message proves nothing: any client may send it.
        private var acquaintance = Acquaintance.unknown
        private var latest: MonotonicInstant

        init(at now: MonotonicInstant) { latest = now }

        mutating func record(startID: String, at now: MonotonicInstant) {
            if latest.duration(to: now) > Self.silence { acquaintance = .unknown }
            _ = acquaintance.record(startID: startID, at: now)
            latest = now
        }

        func isActive(at now: MonotonicInstant) -> Bool {
            acquaintance == .known && latest.duration(to: now) <= Self.silence
        }
    }

    init(_ settings: SiteSettings) {
        (rooms, areCardsSealed) = (settings.gateways, settings.areCardsSealed)
        (most, mostFeeds) = (2 * settings.bounds.gateways, settings.bounds.gateways)
        floors = SiteFloors(settings.floors)
        roomsOfDevices = Dictionary(
            rooms.map { (TopicIdentifier.identifier(of: $0.key), $0.value) }
        ) { $0.id < $1.id ? $0 : $1 }
    }

    /// A connection was made: the broker sends all cards that it has.
    mutating func connected() { hasDroppedCards = false }

    // MARK: - Rooms

    /// Tells the engine the rooms that the configuration gives to gateways, at the start.
    func place(in engine: inout RoomEngine, at now: MonotonicInstant) {
        for (gateway, room) in rooms.sorted(by: { $0.key < $1.key }) {
            for name in names(ofConfigured: gateway, engine) {
                _ = engine.handle(
                    .card(gateway: name, room: configuredRoom(of: name) ?? room, isConfigured: true), at: now)
            }
        }
    }

    /// The names in topics of a gateway that the configuration names. A `deviceId` whose characters differ from those of its topics may also
    /// be the name of an ESPresense node: which of the two it is, is known if it counted in an earlier run, or else when it is heard.
    private func names(ofConfigured gateway: String, _ engine: RoomEngine) -> [String] {
        let identifier = TopicIdentifier.identifier(of: gateway)
        return identifier == gateway ? [gateway] : [gateway, identifier].filter { engine.plan.isTrusted(gateway: $0) }
    }

    /// The configuration sets the room of some gateways.
    func configuredRoom(of gateway: String) -> RoomName? { rooms[gateway] ?? roomsOfDevices[gateway] }

    /// Puts a gateway into the room that the configuration gives it, or else into that of its card.
    ///
    /// - Returns: What the engine is told; nil if there is no such room.
    func placement(of gateway: String, _ card: GatewayCard?) -> RoomEngine.Input? {
        let configured = configuredRoom(of: gateway)
        guard let room = configured ?? card?.room else { return nil }
        return .card(gateway: gateway, room: room, isConfigured: configured != nil)
    }

    /// Puts an ESPresense node into its room: the room is its name, unless the configuration says otherwise.
    ///
    /// - Parameter isSettled: Whether the retained cards have arrived.
    /// - Returns: What the engine is told; nil if the node is in its room.
    func placement(ofNode node: String, _ engine: RoomEngine, isSettled: Bool) -> RoomEngine.Input? {
        let configured = rooms[node]
        guard let room = configured ?? RoomName(node) else { return nil }
        // What was learned may keep it in the room that the configuration gave it in an earlier run. The card of an ibeacon-gateway with
        // the node's name, which says its room, has arrived by then.
        let isMoved =
            isSettled && cards[node] == nil && !engine.plan.gateways(in: room).contains(node)
        guard isMoved || !engine.plan.hasRoom(gateway: node) else { return nil }
        return .card(gateway: node, room: room, isConfigured: configured != nil)
    }

    // MARK: - Cards

    /// In a full table, a gateway that was not heard gives way.
    ///
    /// - Returns: Whether this changed anything.
    mutating func record(
        _ card: GatewayCard?, of gateway: String, in engine: RoomEngine, at now: MonotonicInstant
    ) -> Bool {
        guard cards[gateway] != card else { return false }
        if cards[gateway] == nil, cards.count >= most {
            hasDroppedCards = true
            guard let other = cards.keys.first(where: { !engine.plan.isHeard(gateway: $0) }) else { return false }
            setCard(nil, of: other, at: now)
        }
        setCard(card, of: gateway, at: now)
        return true
    }

    /// Asks for the cards that the broker retains, if that of a gateway that counts may have been dropped: any client may have written so
    /// many that there was no place for it. A gateway that counts keeps its card.
    mutating func askForCard(of gateway: String, _ plan: SitePlan, _ effects: inout [Site.Effect]) {
        guard hasDroppedCards, cards[gateway] == nil, plan.isTrusted(gateway: gateway),
            !plan.hasRoom(gateway: gateway)
        else { return }
        hasDroppedCards = false
        effects.append(.cardMissing)
    }

    private mutating func setCard(_ card: GatewayCard?, of gateway: String, at now: MonotonicInstant) {
        let counts = phoneGateways.contains(gateway)
        countPhones(of: gateway, false)
        radios.replace(cards[gateway], by: card, of: gateway)
        cards[gateway] = card
        countPhones(of: gateway, counts)
        floors.record(card?.floor, of: gateway, at: now)
        setNode(card?.room.map { TopicIdentifier.identifier(of: $0.name) }, of: gateway)
    }

    /// Records whether a gateway counts. Any client can write the card of one that sends nothing.
    mutating func count(_ gateway: String, _ counts: Bool, at now: MonotonicInstant) {
        countPhones(of: gateway, counts)
        floors.record(gateway, counts: counts, at: now)
    }

    /// Makes the phones in a gateway's card count, or no longer count. Any client can write the card of a gateway that sends nothing, and
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

    /// Those UUIDs of these tags that belong to phones, for the engine.
    mutating func phones(among tags: [TagIdentity]) -> Set<BeaconUUID> {
        areOtherPhones = false
        return Set(tags.map(\.pattern.uuid)).filter { isPhone($0) }
    }

    // MARK: - The survey

    mutating func set(survey: [String: SurveyHealth]) { self.survey = survey }

    /// The gateways that may be asked for a beacon of their own, sorted: ibeacon-gateways that count and have a room. Any client can write
    /// the card of another.
    func senders(in plan: SitePlan) -> [String] {
        cards.filter {
            $0.value.isOfGateway && plan.isTrusted(gateway: $0.key) && plan.hasRoom(gateway: $0.key)
        }.keys.sorted()
    }

    // MARK: - Floors

    /// Joins what is said of floors, if that is due.
    ///
    /// - Returns: Whether it differs from before.
    mutating func joinFloors(_ plan: SitePlan, at now: MonotonicInstant) -> Bool {
        guard let due = floors.due, due <= now else { return false }
        return floors.join(plan)
    }

    // MARK: - Availability

    /// The gateways whose messages cannot be decrypted.
    mutating func set(strangers: Set<String>) { self.strangers = strangers }

    func isOffline(_ gateway: String) -> Bool { offline.contains(gateway) }

    /// Records what the broker says about a gateway. In a full table, one that was not heard gives way.
    mutating func record(isOffline: Bool, _ gateway: String, in engine: RoomEngine) {
        guard isOffline else { return _ = offline.remove(gateway) }
        if !offline.contains(gateway), offline.count >= most {
            guard let other = offline.first(where: { !engine.plan.isHeard(gateway: $0) }) else { return }
            offline.remove(other)
        }
        offline.insert(gateway)
    }

    /// The health of the gateways, including whether their messages can be decrypted.
    ///
    /// - Parameter connected: Since when their messages can arrive.
    package func health(
        in engine: RoomEngine, connected: MonotonicInstant, at now: MonotonicInstant
    ) -> [GatewayHealth] {
        engine.plan.gatewayHealth(at: now, connected: connected).map { health in
            var health = health
            health.survey = survey[health.name]
            health.trouble = health.trouble ?? (health.survey?.change?.kind).map(GatewayHealth.Trouble.init)
            let isLeftOut = radios.leftOut.contains(health.name)
            let isStranger = health.trouble != .offline && strangers.contains(health.name)
            guard isLeftOut || isStranger else { return health }
            let trouble: GatewayHealth.Trouble = isLeftOut ? .sameRadio : .wrongKey
            return GatewayHealth(
                name: health.name, room: health.room, isListening: false, trouble: trouble,
                formerRoom: health.formerRoom, survey: health.survey)
        }
    }

    /// The gateways about which something is published: any client may invent others. Machines that share a name may never count, and a
    /// person must know why.
    func published(
        in engine: RoomEngine, connected: MonotonicInstant, at now: MonotonicInstant
    ) -> [RetainedSite.Gateway] {
        health(in: engine, connected: connected, at: now).filter {
            engine.plan.isTrusted(gateway: $0.name) || radios.leftOut.contains($0.name) || $0.trouble == .sharedName
        }.map {
            RetainedSite.Gateway(health: $0, hasCard: !areCardsSealed && cards[$0.name] != nil)
        }
    }

    // MARK: - Feeds

    /// Readings of an ibeacon-gateway that count in the place of an ESPresense node.
    enum NodeFeed { case active, expected }

    /// What an ibeacon-gateway feeds for the room of an ESPresense node: both are the same radio, or the gateway itself publishes
    /// the message in the node's name. A new node waits a moment if a gateway with a card is in its room: that gateway counts as
    /// feeding from its third message on.
    ///
    /// - Parameter connected: When the connection was made; nil without a connection.
    func feed(
        inPlaceOf node: String, _ engine: RoomEngine, connected: MonotonicInstant?, at now: MonotonicInstant
    ) -> NodeFeed? {
        let others = (gatewaysOfNode[node] ?? []).union(RoomName(node).map { engine.plan.gateways(in: $0) } ?? [])
        if isFeeding(node, at: now) || others.contains(where: { isFeeding($0, at: now) }) { return .active }
        guard let connected, connected.duration(to: now) < Self.firstFeed, !engine.plan.isTrusted(gateway: node) else {
            return nil
        }
        return cards[node] != nil || others.contains { cards[$0] != nil } ? .expected : nil
    }

    /// Records a message on the topic of an ibeacon-gateway. In a full table, one that does not feed gives way.
    mutating func recordFeed(of gateway: String, startID: String, at now: MonotonicInstant) {
        if feeds[gateway] == nil {
            if feeds.count >= mostFeeds {
                guard let other = feeds.first(where: { !$0.value.isActive(at: now) }) else { return }
                feeds[other.key] = nil
            }
            feeds[gateway] = Feed(at: now)
        }
        feeds[gateway]?.record(startID: startID, at: now)
    }

    /// The gateway whose radio a scanner of Home Assistant has, while it is heard, and whether that is new.
    mutating func gateway(withRadioOf scanner: String, at now: MonotonicInstant) -> (gateway: String, isNew: Bool)? {
        let feeds = feeds
        return radios.judge(scanner, cards[scanner]) { feeds[$0]?.isActive(at: now) ?? false }
    }

    /// Whether readings of an ibeacon-gateway with this name arrive, so many that they cannot be a single invented message.
    private func isFeeding(_ gateway: String, at now: MonotonicInstant) -> Bool {
        feeds[gateway]?.isActive(at: now) ?? false
    }

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
