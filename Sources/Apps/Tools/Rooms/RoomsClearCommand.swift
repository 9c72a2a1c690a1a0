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
        let site = topics.identity.site
        let list = RoomTopic.tags(site: site).text
        let obsolete = (Array(topics.retained.keys) + Array(topics.closed.keys)).sorted().filter {
            if case .availability = RoomTopic($0) { false } else { true }
        }
        let locations = Self.locations(obsolete, list: topics.retained[list], user: topics.identity.user)
        // The list is needed for the locations, so it stays until they are deleted. Without it gateways stop sending readings.
        for topic in (locations ?? []) + [list] + obsolete {
            try topics.publish(topic, [], isRetained: true)
        }
        if locations == nil {
            Terminal.printError(
                "the locations of the tags stay at the broker (owntracks/\(topics.identity.user)/<tag>): the list that says "
                    + "which ones are of tags cannot be read here")
        }
        if !arguments.has("quiet") {
            let count = obsolete.count + (locations ?? []).count
            Terminal.printError("\(count) retained messages of site '\(site)' are deleted")
        }
        return .ok
    }

    /// The cards of services that are active, or that cannot be decrypted, by the service's name.
    private static func cards(_ topics: SiteTopics) -> [String: [UInt8]] {
        var cards = SiteStatus(topics).services.activeCards.mapValues(\.bytes)
        for (topic, message) in topics.closed {
            if case .service(_, let name) = RoomTopic(topic) { cards[name] = message.payload }
        }
        return cards
    }

    /// The topics of the locations of the site's tags. Any client can retain the state of a tag that does not exist and has the name
    /// of a phone, so only the list says which locations are those of tags.
    ///
    /// - Parameters:
    ///   - topics: What the broker retains of the site.
    ///   - list: The site's list of tags; nil if the broker has none, or it cannot be decrypted.
    ///   - user: The user level of the locations.
    /// - Returns: nil if there are states of tags, and the list cannot be read or lacks ids.
    static func locations(_ topics: [String], list: [UInt8]?, user: String) -> [String]? {
        let ids = topics.compactMap { topic in
            if case .tag(_, let id) = RoomTopic(topic) { id } else { nil }
        }
        guard !ids.isEmpty else { return [] }
        guard let list, let tags = try? ReceivedTagList(list).list().tags else { return nil }
        let listed = Set(tags.compactMap(\.id))
        guard tags.allSatisfy({ $0.id != nil }) else { return nil }
        return ids.filter(listed.contains).map { "owntracks/\(user)/\($0)" }
    }
}
