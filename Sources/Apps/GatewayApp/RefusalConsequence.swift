import Base
import Gateway
import Messaging
import OwnTracks
import Shell

/// What the gateway lacks when something is refused.
struct RefusalConsequence {
    let trackers: Trackers
    /// The topics on which Home Assistant may announce its start.
    let birthTopics: Set<String>
    /// Where the buttons of Home Assistant arrive.
    let buttonTopic: String
    /// nil while the configuration has no rooms service.
    let feed: ReadingFeedSettings?
    /// Whether there is a list of tags.
    let feedIsOn: Bool
    /// The subscription to the lists of phones; nil: keys are not shared.
    let phoneFilter: String?

    /// - Returns: In words; empty: the refusal says it. nil: nothing.
    func text(of refused: Refused) -> String? {
        switch refused.kind {
        case .connection:
            return refused.connection == BrokerSettings.main
                ? "" : "nothing is published for Home Assistant and the rooms service"
        case .clientID:
            return refused.connection == BrokerSettings.main
                ? "" : "all goes over one connection, and nobody says 'offline' if this gateway dies"
        case .retain: return "Home Assistant and others that start later know nothing until something changes"
        case .subscription: return text(ofSubscription: refused.object)
        case .message, .size, .post: return text(ofMessages: refused.object)
        }
    }

    private func text(ofSubscription filter: String) -> String? {
        if birthTopics.contains(filter) { return "a start of Home Assistant is not noticed there" }
        if trackers.contains(where: { $0.topics.command.hasSameBytes(as: filter) }) { return "commands cannot arrive" }
        // A broker without a rooms service need not allow reading its topics.
        if filter == feed?.tags || filter == feed?.nearbyRequest { return nil }
        if filter == phoneFilter { return "keys of phones that other gateways have do not arrive" }
        if filter.hasSameBytes(as: buttonTopic) { return "the buttons in Home Assistant do nothing" }
        return "entities that this configuration no longer has stay in Home Assistant"
    }

    private func text(ofMessages topic: String) -> String? {
        if trackers.contains(where: { $0.topics.event.hasSameBytes(as: topic) }) { return "transitions do not arrive" }
        guard let feed else { return "" }
        guard [feed.heard, feed.card, feed.nearby].contains(topic) else { return "" }
        // Without a list of tags there is no rooms service that would miss it.
        return feedIsOn ? "the rooms service does not hear this gateway" : nil
    }
}
