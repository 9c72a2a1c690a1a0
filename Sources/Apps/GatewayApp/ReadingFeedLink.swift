import Base
import Beacon
package import Configuration
import Messaging
import ReadingFeed
package import Shell
import SiteProtocol

/// Publishes the readings of the site's tags for the rooms service, on the connection of the availability.
///
/// The site's list of tags turns the feed on. The list is retained: the broker sends it on each connection, and without
/// a connection the feed is off. Readings do not go through the outbox, because they are useless a few seconds later:
/// while messages of an earlier second are not sent yet, those of a later second are dropped.
package struct ReadingFeedLink {
    package struct Settings: Hashable {
        /// A level of topics.
        package let site: String
        /// A level of topics.
        let gateway: String
        /// Where the gateway stands, by its name.
        var room: String
        /// Whether the messages of an ESPresense node are published, too.
        let actsAsNode: Bool
        package let seal: SiteSeal

        /// - Returns: nil if the configuration has no feed.
        package init?(_ configuration: Configuration) {
            guard let rooms = configuration.rooms else { return nil }
            (site, room, actsAsNode) = (rooms.site, configuration.room, rooms.actsAsESPresenseNode)
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

        fileprivate func topic(of beacon: BeaconID) -> String {
            RoomTopic.espresense(beacon, node: TopicIdentifier.identifier(of: room)).text
        }
    }

    private(set) var settings: Settings
    /// Fires when messages of the feed are due.
    let timer: any ServiceTimer
    /// The name of a region that a beacon belongs to.
    private let regionName: (BeaconID) -> String?
    private var feed: ReadingFeed
    private var armed: MonotonicInstant?
    private var lastToken: Int64 = 0
    private var unsent: Set<MessageToken> = []
    /// Messages that were dropped because the connection was too slow.
    private(set) var dropped: UInt64 = 0
    /// The phones in the card that was published last.
    var publishedPhones: [BeaconUUID] = []
    /// Whether the site had a list of tags when it was last known. Without a connection the list may be there still.
    var hasSite = false
    /// When the connection was made; nil: there is none.
    private var connected: MonotonicInstant?
    /// After this time on a connection without a list of tags the site has none.
    private static let patience: Duration = .seconds(10)
    /// Whether the service was told, on this connection, that its list cannot be decrypted.
    private var hasComplained = false

    /// - Parameters:
    ///   - boot: Up to 32 characters that are different at each start of the program.
    ///   - regionName: The name of a region that a beacon belongs to; nil if it belongs to none.
    init(
        _ settings: Settings, boot: String, timer: any ServiceTimer, regionName: @escaping (BeaconID) -> String?
    ) {
        self.settings = settings
        self.regionName = regionName
        self.timer = timer
        feed = ReadingFeed(boot: boot, actsAsNode: settings.actsAsNode)
    }

    /// Whether there is a list of tags.
    var isOn: Bool { feed.isOn }

    /// Whether the total of reports has to be passed before the next input.
    func needsReports(at now: MonotonicInstant) -> Bool { feed.endsSecond(at: now) }

    /// Applies settings under which the feed can go on.
    ///
    /// - Returns: false if it has to begin anew.
    mutating func adopt(_ new: Settings) -> Bool {
        guard new.site == settings.site, new.gateway == settings.gateway, new.actsAsNode == settings.actsAsNode,
            new.seal == settings.seal
        else { return false }
        settings = new
        return true
    }

    /// Handles an input and publishes the messages that are due.
    ///
    /// - Parameter connection: nil: nothing is published, as in quiet mode.
    mutating func handle(_ input: ReadingFeed.Input, at now: MonotonicInstant, by connection: (any BrokerLink)?) {
        let messages = feed.handle(input, at: now)
        if !messages.isEmpty, let connection { publish(messages, by: connection) }
        guard let deadline = feed.nextDeadline else { return }
        if let armed, armed <= deadline { return }
        armed = deadline
        timer.arm(at: deadline)
    }

    /// The timer fired.
    mutating func fired() { armed = nil }

    mutating func connected(at now: MonotonicInstant) { connected = now }

    /// Whether the gateway is one of a site, as far as it can be known yet.
    func mayHaveSite(at now: MonotonicInstant) -> Bool {
        hasSite || connected.map { $0.duration(to: now) < Self.patience } ?? true
    }

    /// The connection has ended. Its unsent messages are dropped.
    mutating func disconnected(at now: MonotonicInstant) {
        connected = nil
        _ = feed.handle(.tags(nil), at: now)
        unsent = []
        hasComplained = false
    }

    /// Whether the service may be told that its list cannot be decrypted: once for each connection.
    mutating func mayComplain() -> Bool {
        defer { hasComplained = true }
        return !isOn && !hasComplained
    }

    /// A message was sent or dropped.
    ///
    /// - Returns: false if the message is not of the feed.
    mutating func answered(_ token: MessageToken) -> Bool { unsent.remove(token) != nil }

    private func payload(_ beacons: [NearbyBeacon]) -> [UInt8] {
        NearbyReading.payload(
            beacons.map {
                NearbyReading(beacon: $0.beacon, level: $0.level.map(Float.init), region: regionName($0.beacon))
            })
    }

    private mutating func publish(_ messages: [ReadingFeed.Message], by connection: any BrokerLink) {
        guard unsent.isEmpty else {
            dropped += UInt64(messages.count)
            return
        }
        for message in messages {
            let (topic, payload) =
                switch message {
                case .heard(let payload): (settings.heard, settings.seal.sealed(payload, for: settings.heard))
                case .node(let beacon, let payload): (settings.topic(of: beacon), payload)
                case .nearby(let beacons):
                    (settings.nearby, settings.seal.sealed(payload(beacons), for: settings.nearby))
                }
            // Below 0, so that tokens differ from those of other messages on the connection.
            lastToken -= 1
            let token = MessageToken(rawValue: lastToken)
            let publication = Publication(.transient, topic: topic, payload: payload, qos: .atMostOnce)
            if connection.publish(publication, as: token) { unsent.insert(token) } else { dropped += 1 }
        }
    }
}
