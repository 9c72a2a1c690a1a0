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
            UsedTopic(.readwrite, "\(root)/#", "all of the site", filters: filters(of: identity)),
            UsedTopic(.read, DeviceTopics.availabilities, "which gateways are connected"),
            UsedTopic(
                .readwrite, "\(identity.topics.base)/#",
                "events of the service" + (configuration.obeysCommands ? ", and commands on /cmd" : ""),
                filters: configuration.obeysCommands ? [identity.topics.command] : [], probes: [will]),
            UsedTopic(.write, "owntracks/\(identity.user)/#", "locations and events of the tags"),
        ]
        if SiteSeal(configuration.rooms).allowsPlain {
            topics += espresense.map { UsedTopic(.read, $0, "readings of ESPresense nodes") }
        }
        if configuration.rooms?.publishesVirtualNodes == true {
            topics.append(UsedTopic(.write, "espresense/devices/+/+", "the tags as ESPresense nodes report them"))
        }
        guard configuration.homeAssistant.discovery else { return topics }
        let settings = SiteDiscovery.Settings(
            prefix: configuration.homeAssistant.prefix, site: identity.site, version: "")
        let discovery = SiteDiscovery(settings)
        topics += discovery.birthTopics.sorted().map { UsedTopic(.read, $0, "Home Assistant says here that it starts") }
        topics.append(UsedTopic(.readwrite, discovery.descriptionFilter, "descriptions for Home Assistant"))
        return topics
    }

    static let espresense = [
        "espresense/devices/+/+", "espresense/rooms/+/status", "espresense/rooms/+/telemetry",
        "espresense/settings/+/config",
    ]

    /// Whether an ESPresense node publishes on such a topic. Its settings of what is no iBeacon are its own.
    static func isOfNode(_ topic: String) -> Bool {
        topic.hasPrefix("espresense/devices/") || topic.hasPrefix("espresense/rooms/")
    }

    /// The filters of the site.
    static func filters(of identity: RoomServiceIdentity) -> [String] {
        let root = "ibeacon-rooms/\(identity.site)"
        return [
            "\(root)/heard/+", "\(root)/gateway/+", "\(root)/service/+", "\(root)/tag/+", "\(root)/tags",
            "\(root)/learn", "\(root)/nearby/+", "\(root)/room/+", "\(root)/health/+",
        ]
    }
}
