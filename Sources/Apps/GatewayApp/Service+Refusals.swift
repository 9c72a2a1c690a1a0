package import Base
import Gateway
import Messaging
import OwnTracks
import Shell

/// What the gateway lacks when something is refused.
extension Service {
    package func consequence(of refused: Refused) -> String? {
        switch refused.kind {
        case .connection:
            return refused.connection == BrokerSettings.main
                ? "" : "nothing is published for Home Assistant and the rooms service"
        case .clientID:
            return refused.connection == BrokerSettings.main
                ? "" : "all goes over one connection, and nobody says 'offline' if this gateway dies"
        case .retain: return "Home Assistant and others that start later know nothing until something changes"
        case .subscription: return consequence(ofSubscription: refused.object)
        case .message, .size, .post: return consequence(ofMessages: refused.object)
        }
    }

    private func consequence(ofSubscription filter: String) -> String? {
        if birthTopics.contains(filter) { return "a start of Home Assistant is not noticed there" }
        if app.core.trackers.contains(where: { $0.topics.command.hasSameBytes(as: filter) }) {
            return "commands cannot arrive"
        }
        // A broker without a rooms service need not allow reading its topics.
        if filter == readingFeed?.settings.tags || filter == readingFeed?.settings.nearbyRequest { return nil }
        if filter == phoneFilter { return "keys of phones that other gateways have do not arrive" }
        return "Home Assistant may miss changes"
    }

    private func consequence(ofMessages topic: String) -> String? {
        if app.core.trackers.contains(where: { $0.topics.event.hasSameBytes(as: topic) }) {
            return "transitions do not arrive"
        }
        guard let settings = readingFeed?.settings else { return "" }
        guard [settings.heard, settings.card, settings.nearby].contains(topic) else { return "" }
        // Without a list of tags there is no rooms service that would miss it.
        return readingFeed?.isOn == true ? "the rooms service does not hear this gateway" : nil
    }
}
