import Base
package import Configuration
package import Messaging
package import OwnTracks
package import Shell
package import SiteCore
import SiteProtocol
package import System

/// The names of the rooms service at the broker. They differ from those of every gateway, so that both can share a
/// machine and a configuration file.
package struct RoomServiceIdentity: Hashable, Sendable {
    package let site: String
    /// The user level of the tags' topics.
    package let user: String
    /// The service's own topics: those of an OwnTracks device `rooms-<site>`.
    package let topics: Topics

    package init(_ configuration: Configuration) throws(Failure) {
        guard let rooms = configuration.rooms else {
            throw Failure(.configuration, "rooms is null, so no site is named; write rooms: {site: \"home\"}")
        }
        site = rooms.site
        user = configuration.trackers[0].username ?? "user"
        do throws(TopicError) {
            topics = try configuration.topics(ofService: rooms)
        } catch {
            throw Failure(.configuration, "the topic of the rooms service is not valid: \(error)")
        }
    }

    package var addresses: SiteAddresses { SiteAddresses(site: site, user: user) }

    /// The settings for the broker, with a will that tells a standby to take over.
    ///
    /// - Parameters:
    ///   - instance: The name of this service among the services of the site.
    ///   - seal: Encrypts the will.
    package func brokerSettings(
        _ configuration: Configuration, instance: String, _ seal: SiteSeal
    ) -> BrokerSettings {
        let topic = RoomTopic.service(site: site, instance: instance).text
        let card = ServiceCard(isActive: false, counter: 0, version: Program.version).payload
        var settings = BrokerSettings(configuration, for: .command("rooms-\(site)-\(instance)"))
        // A thousand gateways send a thousand messages a second.
        settings.limits.incoming = 10_000
        settings.limits.incomingBytes = 64 << 20
        // A gateway with 10,000 tags sends 40 messages in a second, and three such seconds may come at once.
        settings.limits.perTopicAndSecond = 128
        settings.limits.transientPerSecond = 4_000
        let root = "ibeacon-rooms/\(site)"
        settings.transientFilters = ["\(root)/heard/+", "\(root)/nearby/+", "espresense/devices/+/+"]
        // The session is clean, and all but requests is retained.
        settings.subscriptionQoS = .atMostOnce
        settings.will = BrokerSettings.Will(
            topic: topic, payload: seal.sealed(card, for: topic), qos: .atLeastOnce, retain: true)
        return settings
    }

    /// The settings of the core.
    func siteSettings(_ settings: Settings) -> SiteSettings {
        let configuration = settings.configuration
        var site = SiteSettings(configuration)
        site.site = self.site
        site.user = user
        site.instance = configuration.rooms?.instance ?? TopicIdentifier.identifier(of: Settings.hostName)
        site.version = Program.version
        site.areCardsSealed = SiteSeal(configuration.rooms).isOn
        if configuration.homeAssistant.discovery {
            site.discovery = SiteDiscovery.Settings(
                prefix: configuration.homeAssistant.prefix, site: self.site, version: Program.version)
        }
        return site
    }
}
