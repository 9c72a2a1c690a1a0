import Base
import Configuration
import Gateway
import Health
import Messaging
import OwnTracks
import Shell

/// What the gateway lacks when something is refused. The topics themselves: `DeviceTopics`, `DiscoveryTopics`, `Topics`, `RoomTopic`.
struct RefusalConsequence {
    let trackers: Trackers
    /// Where this gateway describes its entities.
    let discovery: DiscoveryTopics
    /// nil while the configuration has no rooms service.
    let feed: ReadingFeedSettings?
    /// Whether there is a list of tags.
    let feedIsOn: Bool
    /// nil: keys of phones are not shared.
    let phones: PhoneSite?

    /// In words, as log, `status`, page, `doctor` and Home Assistant show it. The gravest is the first.
    private enum Lack: String, CaseIterable {
        case transitions = "transitions do not arrive"
        case locations = "locations do not arrive"
        case commands = "commands cannot arrive"
        case states = "the states of the gateway and of its regions stay old at the broker"
        case memory = "Home Assistant and others that start later know nothing until something changes"
        case birth = "a start of Home Assistant is not noticed there"
        case entities = "entities are missing in Home Assistant"
        case removals = "entities that this configuration no longer has stay in Home Assistant"
        case buttons = "the buttons in Home Assistant do nothing"
        case proxy = "Home Assistant does not find the Bluetooth proxy"
        case readings = "the rooms service does not hear this gateway"
        case foreignKeys = "keys of phones that other gateways have do not arrive"
        case ownKeys = "other gateways do not get the keys of phones that this one has"
        case secondConnection = "nothing is published for Home Assistant and the rooms service"
        case secondWill = "all goes over one connection, and nobody says 'offline' if this gateway dies"
    }

    /// - Returns: nil: nothing is missed.
    func consequence(of refused: Refused) -> RefusalRecord.Consequence? {
        guard isMissed(refused) else { return nil }
        guard let lack = lack(of: refused) else { return "" }
        return RefusalRecord.Consequence(lack.rawValue, rank: Lack.allCases.firstIndex(of: lack) ?? 0)
    }

    private func lack(of refused: Refused) -> Lack? {
        switch refused.kind {
        case .connection: refused.connection == BrokerSettings.main ? nil : .secondConnection
        case .clientID: refused.connection == BrokerSettings.main ? nil : .secondWill
        case .retain: .memory
        case .subscription: lack(ofSubscription: refused.object)
        case .message, .size, .post: lack(ofMessages: refused.object)
        }
    }

    private func isMissed(_ refused: Refused) -> Bool {
        switch refused.kind {
        // A broker without a rooms service need not allow reading its topics.
        case .subscription: refused.object != feed?.tags && refused.object != feed?.nearbyRequest
        // Without a list of tags there is no rooms service that would miss what is written for it.
        case .message, .size, .post: feedIsOn || !isOfFeed(refused.object)
        case .connection, .clientID, .retain: true
        }
    }

    private func isOfFeed(_ topic: String) -> Bool {
        feed.map { [$0.heard, $0.card, $0.nearby].contains(topic) } ?? false
    }

    private func lack(ofSubscription filter: String) -> Lack? {
        if trackers.contains(where: { $0.topics.command.hasSameBytes(as: filter) }) { return .commands }
        if discovery.births.contains(filter) { return .birth }
        if devices.contains(where: { DeviceTopics.command(device: $0).hasSameBytes(as: filter) }) { return .buttons }
        if filter == phones?.filter { return .foreignKeys }
        // Those of names that this gateway had before, too.
        return filter.hasSuffix("/config") || DeviceTopics.isAvailability(filter) ? .removals : nil
    }

    private func lack(ofMessages topic: String) -> Lack? {
        if trackers.contains(where: { $0.topics.event.hasSameBytes(as: topic) }) { return .transitions }
        if trackers.contains(where: { $0.topics.base.hasSameBytes(as: topic) }) { return .locations }
        if isOfFeed(topic) { return .readings }
        if topic == phones?.topic { return .ownKeys }
        if ProxyIdentity.isTopic(topic) { return .proxy }
        if discovery.isDescription(topic) { return .entities }
        return devices.contains { topic.hasPrefix(DeviceTopics.root($0) + "/") } ? .states : nil
    }

    private var devices: [String] { trackers.map(\.configuration.deviceID) }
}
