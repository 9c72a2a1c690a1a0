import Configuration
import JSON
import RoomsApp
import Shell
import SiteCore
import SiteProtocol
import System

/// `rooms clear`: turns rooms off at the broker. Gateways stop sending readings, and no message of the site stays
/// retained.
enum RoomsClearCommand {
    /// Within this time a standby that takes over publishes a new counter on its card.
    private static let watching: Duration = .seconds(5)

    static func run(_ arguments: Arguments) throws -> ExitCode {
        guard arguments.operands.count == 1 else { throw Failure(.usage, "rooms clear takes no further word") }
        let settings = try Settings.load(arguments)
        let topics = try SiteTopics(settings, filters: SiteStatus.filters + ["phones/+"]) { identity in
            let prefix = settings.configuration.homeAssistant.prefix
            let discovery = SiteDiscovery(.init(prefix: prefix, site: identity.site, version: Program.version))
            return [discovery.descriptionFilter]
        }
        defer { topics.close() }
        try topics.collect()
        let services = cards(topics)
        var active: [String] = []
        // The card of a killed service may still say that it is active. Only the counter of a running service moves.
        try topics.wait(Self.watching) { _ in
            active = cards(topics).filter { services[$0.key] != $0.value }.keys.sorted()
            return !active.isEmpty
        }
        guard active.isEmpty else {
            throw Failure(
                .unavailable,
                "the rooms service '\(active[0])' is active and would publish everything again; stop it first: "
                    + "sudo systemctl disable --now ibeacon-gateway-rooms")
        }
        let obsolete = Self.obsolete(topics)
        // Without the list of tags, gateways stop sending readings.
        for topic in [RoomTopic.tags(site: topics.identity.site).text] + obsolete {
            try topics.publish(topic, [], isRetained: true)
        }
        if !arguments.has("quiet") {
            Terminal.printError("\(obsolete.count) retained messages of site '\(topics.identity.site)' are deleted")
        }
        return .ok
    }

    /// The cards of services that are active, or that cannot be decrypted, by the service's name.
    private static func cards(_ topics: SiteTopics) -> [String: [UInt8]] {
        var cards = SiteStatus(topics).activeServices.mapValues(\.bytes)
        for (topic, message) in topics.closed {
            if case .service(_, let name) = RoomTopic(topic) { cards[name] = message.payload }
        }
        return cards
    }

    /// The retained topics of the site, including the locations of its tags.
    private static func obsolete(_ topics: SiteTopics) -> [String] {
        (Array(topics.retained.keys) + Array(topics.closed.keys)).sorted().flatMap { topic -> [String] in
            switch RoomTopic(topic) {
            case .availability: []
            case .tag(_, let id): [topic, "owntracks/\(topics.identity.user)/\(id)"]
            default: [topic]
            }
        }
    }
}
