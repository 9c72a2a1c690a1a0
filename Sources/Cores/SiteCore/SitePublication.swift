package import Base
import JSON
package import OwnTracks
package import SiteProtocol

/// What a service of a site publishes.
package enum SitePublication: Hashable, Sendable {
    /// A tag has entered or left a room.
    case transition(tag: String, Transition)
    case location(tag: String, Location)
    /// The retained state of a tag; nil if it is removed.
    case tag(id: String, PublishedTag?)
    /// The retained state of a room; nil if it is removed.
    case room(id: String, PublishedRoom?)
    /// The retained health of a gateway; nil if it is removed.
    case health(gateway: String, HealthMessage?)
    /// The tags that gateways listen for.
    case tags(TagList)
    /// The card of a service.
    case card(instance: String, ServiceCard)
    /// The card of another service, which is gone, is removed.
    case cardRemoved(instance: String)
    case learn(FeedDecoder.LearnRequest)
    /// Such a request is not carried out.
    case refused(LearnRefusal)
    /// Such a request is carried out, or there was nothing to do.
    case answer(LearnAnswer)
    /// Asks the gateways which other beacons they hear, for this time.
    case nearbyRequest(Duration)
    /// An entity in Home Assistant.
    case entity(Publication)
    /// The room of a tag, as an ESPresense node would publish it.
    case virtualNode(VirtualNode)
}

extension SitePublication {
    /// The message on its topic. It is made outside the core, by the service and by the replay; the service adds whom the
    /// message belongs to and the instant.
    package func message(to addresses: SiteAddresses) -> Publication {
        let site = addresses.site
        func retained(_ topic: RoomTopic, _ payload: [UInt8]?) -> Publication {
            Publication(.state, topic: topic.text, payload: payload ?? [], isRetained: true)
        }
        switch self {
        case .transition(let tag, let transition):
            return Publication(
                .transition, topic: addresses.topic(ofTag: tag) + "/event", payload: transition.payload.bytes)
        case .location(let tag, let location):
            return Publication(
                .location, topic: addresses.topic(ofTag: tag), payload: location.payload.bytes, isRetained: true)
        case .tag(let id, let state): return retained(.tag(site: site, tag: id), state?.json.bytes)
        case .room(let id, let state): return retained(.room(site: site, room: id), state?.payload)
        case .health(let gateway, let health):
            return retained(.health(site: site, gateway: gateway), health?.json.bytes)
        case .tags(let list): return retained(.tags(site: site), list.payload)
        case .card(let instance, let card): return retained(.service(site: site, instance: instance), card.payload)
        case .cardRemoved(let instance): return retained(.service(site: site, instance: instance), nil)
        case .learn(let request):
            return Publication(.state, topic: RoomTopic.learn(site: site).text, payload: request.payload)
        case .refused(let refusal):
            return Publication(.state, topic: RoomTopic.refused(site: site).text, payload: refusal.payload)
        case .answer(let answer):
            return Publication(.state, topic: RoomTopic.answer(site: site).text, payload: answer.payload)
        case .nearbyRequest(let duration):
            return Publication(
                .state, topic: RoomTopic.nearbyRequest(site: site).text, payload: NearbyRequest.payload(duration))
        case .entity(let message): return message
        case .virtualNode(let node):
            return Publication(.transient, topic: node.topic.text, payload: node.payload, qos: .atMostOnce)
        }
    }
}
