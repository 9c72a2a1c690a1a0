import Base
package import Configuration
import JSON
import OwnTracks
package import Shell
import SiteCore
import SiteProtocol

/// The topics that the rooms service uses with a configuration.
package enum RoomTopics {
    package static func used(_ configuration: Configuration, at epochSeconds: Int64) -> [UsedTopic] {
        guard !configuration.broker.isOffline, configuration.broker.endpoint == nil,
            let identity = try? RoomServiceIdentity(configuration)
        else { return [] }
        let root = "ibeacon-rooms/\(identity.site)"
        // All readers of this topic know last wills, and none acts on them.
        let will = Publication(
            .other, topic: identity.topics.event, payload: LastWill(timestamp: epochSeconds).payload.bytes)
        var topics = [
            UsedTopic(.readwrite, "\(root)/#", filters: filters(of: identity)),
            UsedTopic(.read, "ibeacon-gateway/+/availability"),
            UsedTopic(
                .readwrite, "\(identity.topics.base)/#",
                filters: configuration.obeysCommands ? [identity.topics.command] : [], probes: [will]),
            UsedTopic(.write, "owntracks/\(identity.user)/#"),
        ]
        if SiteSeal(configuration.rooms).allowsPlain { topics += espresense.map { UsedTopic(.read, $0) } }
        guard configuration.homeAssistant.discovery else { return topics }
        let settings = SiteDiscovery.Settings(
            prefix: configuration.homeAssistant.prefix, site: identity.site, version: "")
        let discovery = SiteDiscovery(settings)
        topics += discovery.birthTopics.sorted().map { UsedTopic(.read, $0) }
        topics.append(UsedTopic(.readwrite, discovery.descriptionFilter))
        return topics
    }

    static let espresense = ["espresense/devices/+/+", "espresense/rooms/+/status", "espresense/rooms/+/telemetry"]

    /// The filters of the site.
    static func filters(of identity: RoomServiceIdentity) -> [String] {
        let root = "ibeacon-rooms/\(identity.site)"
        return [
            "\(root)/heard/+", "\(root)/gateway/+", "\(root)/service/+", "\(root)/tag/+", "\(root)/tags",
            "\(root)/learn", "\(root)/nearby/+", "\(root)/room/+", "\(root)/health/+",
        ]
    }
}
