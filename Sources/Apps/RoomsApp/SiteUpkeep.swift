import Base
import Configuration
import HomeAssistant
import JSON
import Messaging
import RoomMessages
import Rooms
import Shell
import SiteProtocol

/// Keeps the retained messages of a site correct between decisions: the states of tags, rooms and gateways after the
/// broker lost them or after a removal, and the messages for Home Assistant.
struct SiteUpkeep {
    /// Time after connecting for the broker's retained messages to arrive.
    private static let settling: Duration = .seconds(2)
    /// Time between two checks of the gateways.
    static let period: Duration = .seconds(5)

    private let site: String
    private let instance: String
    /// Whether the gateways' cards are encrypted, so that Home Assistant cannot read them.
    private let areCardsSealed: Bool
    private var tags = RetainedTopics()
    private var rooms = RetainedTopics()
    private var health = RetainedTopics()
    private var described = RetainedTopics()
    /// nil if Home Assistant's discovery is off.
    private var discovery: SiteDiscovery?
    /// When the connection was made; nil without a connection.
    private var connected: MonotonicInstant?
    /// The state from which the last messages were made; nil: all messages are compared again.
    private var shape: Shape?
    /// Whether Home Assistant has announced its start and was not answered yet.
    private(set) var isBorn = false

    /// The state from which `update` makes its messages, without the states of tags.
    private struct Shape: Hashable {
        let tags: [TagIdentity]
        let rooms: [RoomName]
        let gateways: [Gateway]
        /// Gateways of which nothing else is known, because their messages cannot be decrypted.
        let strangers: [String]
    }

    private struct Gateway: Hashable {
        let health: GatewayHealth
        let hasCard: Bool
    }

    init(_ identity: RoomServiceIdentity, _ configuration: Configuration, instance: String) {
        (site, self.instance) = (identity.site, instance)
        areCardsSealed = SiteSeal(configuration.rooms).isOn
        guard configuration.homeAssistant.discovery else { return }
        discovery = SiteDiscovery(
            SiteDiscovery.Settings(
                prefix: configuration.homeAssistant.prefix, site: identity.site, version: Program.version))
    }

    /// Subscriptions in addition to those of the site.
    var filters: Set<String> {
        let root = "ibeacon-rooms/\(site)"
        return (discovery?.subscriptions ?? []).union(["\(root)/room/+", "\(root)/health/+"])
    }

    // MARK: What comes in

    /// - Returns: When the broker's retained messages have arrived and `update` is due.
    mutating func connected(at now: MonotonicInstant) -> MonotonicInstant {
        connected = now
        shape = nil
        (tags, rooms, health, described) = (RetainedTopics(), RetainedTopics(), RetainedTopics(), RetainedTopics())
        return now.advanced(by: Self.settling)
    }

    mutating func disconnected() { connected = nil }

    /// Handles a message of the broker.
    ///
    /// - Parameter isActive: Whether this service alone publishes, so that later messages are its own.
    /// - Returns: Whether the message is fully handled; false if the site needs it too.
    mutating func received(_ message: ReceivedMessage, isActive: Bool, at now: MonotonicInstant) -> Bool {
        if message.topic == discovery?.birthTopic {
            // A retained birth message is old.
            if isActive, !message.retained, message.payload == Array("online".utf8) { isBorn = true }
            return true
        }
        let isNews = !isActive || !isSettled(at: now)
        if discovery?.isDescription(message.topic) == true {
            if isNews { described.record(message.topic, message.payload) }
            return true
        }
        switch RoomTopic(message.topic) {
        case .tag:
            if isNews { tags.record(message.topic, message.payload) }
            return false
        case .room:
            if isNews { rooms.record(message.topic, message.payload) }
            return true
        case .health:
            if isNews { health.record(message.topic, message.payload) }
            return true
        default: return false
        }
    }

    /// Records that the broker retains a message that cannot be decrypted: a right one replaces it.
    mutating func refused(_ topic: String, isActive: Bool, at now: MonotonicInstant) {
        guard !isActive || !isSettled(at: now) else { return }
        switch RoomTopic(topic) {
        case .tag: tags.recordRefused(topic)
        case .room: rooms.recordRefused(topic)
        case .health: health.recordRefused(topic)
        default: break
        }
    }

    /// Records messages that go to the outbox.
    mutating func committed(_ messages: [RoomMessage]) {
        for message in messages {
            switch RoomTopic(message.topic) {
            case .tag: tags.record(message.topic, message.payload)
            case .room: rooms.record(message.topic, message.payload)
            default: break
            }
        }
    }

    private func isSettled(at now: MonotonicInstant) -> Bool {
        connected.map { $0.duration(to: now) >= Self.settling } ?? false
    }

    // MARK: What goes out

    /// Returns the messages that bring the broker and Home Assistant up to date. The call is cheap if nothing changed.
    ///
    /// Without a connection, the last known state of the gateways is used.
    ///
    /// - Parameter unreadable: Gateways whose messages cannot be decrypted.
    mutating func update(_ site: RoomSite, unreadable: Set<String>, at now: MonotonicInstant) -> [RoomMessage] {
        guard site.isActive else {
            // Another service writes now. The retained messages are compared again when this one takes over.
            shape = nil
            return []
        }
        guard isSettled(at: now) || (connected == nil && shape != nil) else { return [] }
        let gateways = gateways(of: site, unreadable, at: now)
        let strangers = unreadable.subtracting(gateways.map(\.health.name)).sorted()
        let new = Shape(
            tags: site.tags, rooms: site.engine.knownRooms, gateways: gateways, strangers: strangers)
        var messages: [RoomMessage] = []
        if new != shape || isBorn { messages += describe(new) }
        let areTagsNew = new.tags != shape?.tags
        if areTagsNew { messages += tags.update(to: site.retainedTags) }
        if areTagsNew || new.rooms != shape?.rooms { messages += rooms.update(to: site.retainedRooms) }
        if new.gateways != shape?.gateways || new.strangers != shape?.strangers {
            messages += health.update(
                to: new.gateways.map { message(of: $0.health) } + new.strangers.map(message(ofStranger:)))
        }
        shape = new
        messages += (discovery?.messagesDue(at: now) ?? []).map(\.asRoomMessage)
        if isBorn { messages += (discovery?.messagesAtBirth(at: now) ?? []).map(\.asRoomMessage) }
        isBorn = false
        return messages
    }

    private func gateways(
        of site: RoomSite, _ unreadable: Set<String>, at now: MonotonicInstant
    ) -> [Gateway] {
        guard let connected else { return shape?.gateways ?? [] }
        return site.engine.gatewayHealth(at: now, connected: connected).map {
            Gateway(
                health: $0.withWrongKey(among: unreadable), hasCard: !areCardsSealed && site.hasCard($0.name))
        }
    }

    /// Descriptions come before the states to which they refer.
    private mutating func describe(_ shape: Shape) -> [RoomMessage] {
        guard let wanted = discovery?.descriptions(of: picture(shape)) else { return [] }
        let before = described
        let messages = described.update(
            to: wanted.map { ($0.topic, Array($0.payload.utf8)) }, isAgain: isBorn)
        for message in messages {
            let old = message.payload.isEmpty ? before.payload(of: message.topic) : nil
            discovery?.recordRemoval(of: message.topic, payload: old.map { String(decoding: $0, as: UTF8.self) })
        }
        return messages
    }

    private func picture(_ shape: Shape) -> SiteDiscovery.Picture {
        var picture = SiteDiscovery.Picture(instance: instance)
        picture.tags = shape.tags.map { .init(id: $0.id, name: $0.name) }
        picture.rooms = shape.rooms.map { .init(id: $0.id, name: $0.name) }
        picture.gateways = shape.gateways.map { .init(name: $0.health.name, hasCard: $0.hasCard) }
        return picture
    }

    private func message(ofStranger name: String) -> (topic: String, payload: [UInt8]?) {
        let message = HealthMessage(room: nil, isListening: false, trouble: .wrongKey)
        return (RoomTopic.health(site: site, gateway: name).text, message.json.bytes)
    }

    private func message(of report: GatewayHealth) -> (topic: String, payload: [UInt8]?) {
        let message = HealthMessage(
            room: report.room.name, isListening: report.isListening, trouble: report.trouble)
        return (RoomTopic.health(site: site, gateway: report.name).text, message.json.bytes)
    }
}

extension GatewayHealth {
    /// With the problem that its messages cannot be decrypted, unless it is gone.
    func withWrongKey(among unreadable: Set<String>) -> GatewayHealth {
        guard trouble != .offline, unreadable.contains(name) else { return self }
        return GatewayHealth(name: name, room: room, isListening: false, trouble: .wrongKey)
    }
}

extension HomeAssistantMessage {
    fileprivate var asRoomMessage: RoomMessage {
        RoomMessage(topic: topic, payload: Array(payload.utf8), qos: 1, isRetained: true)
    }
}
