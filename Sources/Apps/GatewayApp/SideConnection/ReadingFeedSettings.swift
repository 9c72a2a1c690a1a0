import Base
import Beacon
package import Configuration
package import Shell
import SiteProtocol

/// What the feed of readings needs of the configuration: its topics, and the key of the site.
package struct ReadingFeedSettings: Hashable {
    /// A level of topics.
    package let site: String
    /// A level of topics.
    let gateway: String
    /// Where the gateway stands, by its name.
    let room: String
    /// The floor of that room; nil: it is not said.
    let floor: Int?
    /// Whether the messages of an ESPresense node are published, too.
    let actsAsNode: Bool
    package let seal: SiteSeal

    /// - Returns: nil if the configuration has no feed.
    package init?(_ configuration: Configuration) {
        guard let rooms = configuration.rooms else { return nil }
        (site, room, actsAsNode) = (rooms.site, configuration.room, rooms.actsAsESPresenseNode)
        floor = configuration.floor
        gateway = TopicIdentifier.identifier(of: configuration.trackers[0].deviceID)
        seal = SiteSeal(rooms)
    }

    /// The topic of the list of tags.
    package var tags: String { RoomTopic.tags(site: site).text }
    /// Decrypts the list of tags.
    package func opened(_ list: [UInt8]) throws(SealError) -> [UInt8] {
        try seal.opened(list, of: .tags(site: site))
    }
    /// Decrypts a request for other beacons than tags.
    func opened(request: [UInt8]) throws(SealError) -> [UInt8] {
        try seal.opened(request, of: .nearbyRequest(site: site))
    }
    /// The topic of the readings.
    package var heard: String { RoomTopic.heard(site: site, gateway: gateway).text }
    /// The topic on which the service asks for other beacons than tags.
    var nearbyRequest: String { RoomTopic.nearbyRequest(site: site).text }
    var nearby: String { RoomTopic.nearby(site: site, gateway: gateway).text }
    /// The topic of the card.
    package var card: String { RoomTopic.card(site: site, gateway: gateway).text }

    /// The topic of a beacon's distance as an ESPresense node publishes it.
    func topic(of beacon: BeaconID) -> String {
        RoomTopic.espresense(beacon, node: TopicIdentifier.identifier(of: room)).text
    }
}
