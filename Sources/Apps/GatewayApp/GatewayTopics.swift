import Base
package import Configuration
import Gateway
import JSON
import OwnTracks
package import Shell
import SiteProtocol

/// The topics that the gateway uses with a configuration.
package enum GatewayTopics {
    package static func used(_ configuration: Configuration, at epochSeconds: Int64) -> [UsedTopic] {
        guard !configuration.broker.isOffline, configuration.broker.endpoint == nil else { return [] }
        return ownTracks(configuration, at: epochSeconds) + home(configuration) + site(configuration)
            + proxies(configuration)
    }

    private static func ownTracks(_ configuration: Configuration, at epochSeconds: Int64) -> [UsedTopic] {
        // All readers of these topics know last wills, and none acts on them.
        let will = LastWill(timestamp: epochSeconds).payload.bytes
        return configuration.trackers.map { tracker in
            let topics = tracker.topics
            return UsedTopic(
                configuration.obeysCommands ? .readwrite : .write, "\(topics.base)/#",
                "OwnTracks: locations, events" + (configuration.obeysCommands ? ", and commands on /cmd" : ""),
                filters: configuration.obeysCommands ? [topics.command] : [],
                probes: [topics.event, topics.base].map { Publication(.other, topic: $0, payload: will) })
        }
    }

    private static func home(_ configuration: Configuration) -> [UsedTopic] {
        let (settings, own) = (configuration.homeAssistant, configuration.trackers[0].deviceID)
        let isEncrypted = configuration.trackers.contains { $0.encryptionKey != .absent }
        let takesRequests = settings.discovery && configuration.obeysCommands && !isEncrypted
        var seen: Set<ExactString> = []
        var topics = configuration.trackers.filter { seen.insert(ExactString($0.deviceID)).inserted }.map { tracker in
            let root = DeviceTopics.root(tracker.deviceID)
            let isOwn = tracker.deviceID.hasSameBytes(as: own)
            return UsedTopic(
                isOwn && takesRequests ? .readwrite : .write, "\(root)/#",
                "states of the regions and of the gateway"
                    + (isOwn && takesRequests ? ", and Home Assistant's buttons" : ""),
                filters: isOwn && takesRequests ? [DeviceTopics.command(device: own)] : [],
                probes: [empty(DeviceTopics.region(device: tracker.deviceID, rid: "doctor"))])
        }
        let discovery = DiscoveryTopics(prefix: settings.prefix, device: own)
        if settings.discovery || configuration.reannounces || configuration.bluetoothProxy != nil {
            topics += discovery.births.sorted().map { UsedTopic(.read, $0, "Home Assistant says here that it starts") }
        }
        if settings.discovery {
            topics.append(
                UsedTopic(
                    .readwrite, discovery.descriptions, "descriptions for Home Assistant",
                    probes: [empty(discovery.description("sensor", "doctor"))]))
        }
        return topics
    }

    private static func proxies(_ configuration: Configuration) -> [UsedTopic] {
        guard configuration.bluetoothProxy != nil else { return [] }
        return [
            UsedTopic(
                .write, ProxyIdentity.topic(of: "+"), "Home Assistant finds the Bluetooth proxy here",
                probes: [empty(ProxyIdentity.topic(of: "doctor"))])
        ]
    }

    /// Empty, and not retained: it removes nothing, and nobody knows the topic.
    private static func empty(_ topic: String) -> Publication { Publication(.other, topic: topic, payload: []) }

    private static func site(_ configuration: Configuration) -> [UsedTopic] {
        guard let feed = ReadingFeedSettings(configuration) else { return [] }
        // A broker without a rooms service need not know its topics.
        var topics = [
            UsedTopic(.read, feed.tags, "the tags of the site", isNeeded: false),
            UsedTopic(.write, feed.heard, "what this gateway hears of them", isNeeded: false),
            UsedTopic(.write, feed.card, "its room, and that it listens", isNeeded: false),
            UsedTopic(.read, feed.nearbyRequest, "a page looks for beacons", isNeeded: false),
            UsedTopic(.write, feed.nearby, "the beacons near this gateway", isNeeded: false),
        ]
        if let phones = PhoneSite(configuration) {
            topics += [
                UsedTopic(.read, phones.filter, "keys of phones that the gateways share, encrypted", isNeeded: false),
                UsedTopic(.write, phones.topic, "the keys that this gateway has", isNeeded: false),
            ]
        }
        if feed.actsAsNode {
            topics.append(
                UsedTopic(
                    .write, "espresense/devices/+/\(TopicIdentifier.identifier(of: feed.room))",
                    "the tags as an ESPresense node reports them", isNeeded: false))
        }
        return topics
    }
}
