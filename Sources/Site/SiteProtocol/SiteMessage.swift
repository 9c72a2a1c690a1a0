import Base
package import Beacon

/// A message that the service of a site receives, as a value.
package enum SiteMessage: Hashable, Sendable {
    case heard(gateway: String, HeardSecond)
    /// An ESPresense node heard a beacon.
    case nodeHeard(node: String, HeardSecond)
    /// An ESPresense node heard a device under an id that is not that of an iBeacon.
    case aliasHeard(String, node: String, ReceivedNodeReading)
    /// The id under which ESPresense nodes publish a beacon; nil: under its own.
    case alias(BeaconID, String?)
    /// An ESPresense node published its telemetry, so it is running.
    case nodeTelemetry(node: String)
    /// Whether a gateway or a node is connected to the broker; nil if the message says neither.
    case available(gateway: String, Bool?)
    /// nil if the card was removed.
    case card(gateway: String, GatewayCard?)
    case tags(ReceivedTagList)
    case tag(id: String, Retained<PublishedTag>)
    case room(id: String, Retained<PublishedRoom>)
    case health(gateway: String, Retained<HealthMessage>)
    /// nil if the card was removed.
    case service(instance: String, ServiceCard?)
    case learn(FeedDecoder.LearnRequest)
    case nearby(gateway: String, [NearbyReading])
}

extension SiteMessage {
    /// Reads a message.
    ///
    /// - Returns: nil for a topic on which a service receives nothing, and for what a service publishes in the place of a node.
    /// - Throws: The first error in the payload.
    package init?(_ topic: RoomTopic, _ payload: some Collection<UInt8>) throws(FeedError) {
        switch topic {
        case .heard where FeedDecoder.isTrial(payload): return nil
        case .heard(_, let gateway): self = .heard(gateway: gateway, try FeedDecoder.heard(payload))
        case .espresense(let beacon, let node):
            guard let second = try FeedDecoder.espresense(beacon, payload) else { return nil }
            self = .nodeHeard(node: node, second)
        case .espresenseAlias(let alias, let node):
            self = .aliasHeard(alias, node: node, ReceivedNodeReading(payload))
        case .espresenseSettings(let beacon):
            self = .alias(beacon, try FeedDecoder.espresenseAlias(of: beacon, payload))
        case .espresenseTelemetry(let node): self = .nodeTelemetry(node: node)
        case .availability(let device):
            self = .available(gateway: Self.gateway(ofLevel: device), Self.availability(payload))
        case .espresenseStatus(let node):
            let isAvailable = Self.availability(payload)
            if isAvailable == nil, !payload.isEmpty { throw FeedError("it is neither 'online' nor 'offline'") }
            self = .available(gateway: node, isAvailable)
        case .card(_, let gateway):
            self = .card(gateway: gateway, payload.isEmpty ? nil : try FeedDecoder.card(payload))
        case .tags: self = .tags(ReceivedTagList(payload))
        case .tag(_, let id): self = .tag(id: id, Retained(payload) { PublishedTag(payload) })
        case .room(_, let id): self = .room(id: id, Retained(payload) { PublishedRoom(payload) })
        case .health(_, let gateway): self = .health(gateway: gateway, Retained(payload) { HealthMessage(payload) })
        case .service(_, let instance):
            let card = ServiceCard(payload)
            if card == nil, !payload.isEmpty { throw FeedError("it is not the card of a service") }
            self = .service(instance: instance, card)
        case .learn: self = .learn(try FeedDecoder.learn(payload))
        case .nearby(_, let gateway): self = .nearby(gateway: gateway, try FeedDecoder.nearby(payload))
        // What gateways tell each other, and what a service says to a person.
        case .nearbyRequest, .phones, .refused, .answer: return nil
        }
    }

    private static func availability(_ payload: some Collection<UInt8>) -> Bool? {
        let text = String(decoding: payload.prefix(16), as: UTF8.self).filter { $0 != "\"" }
        return text == "online" ? true : text == "offline" ? false : nil
    }

    /// The gateway of a device by the level of the device's availability topic. That level is the `deviceId`, with some characters
    /// percent-encoded; the topics of the site have the identifier of the `deviceId`.
    package static func gateway(ofLevel level: String) -> String {
        let device = percentDecoded(level.utf8) ?? Array(level.utf8)
        return TopicIdentifier.identifier(of: String(decoding: device, as: UTF8.self))
    }
}
