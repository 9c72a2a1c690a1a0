import Base
import Beacon
import Messaging
import ReadingFeed
import Shell
import SiteProtocol

/// Sends the readings of the site's tags for the rooms service.
///
/// The site's list of tags turns the feed on. The list is retained: the broker sends it on each connection, and without
/// a connection the feed is off. Readings do not go through the outbox, because they are useless a few seconds later:
/// while messages of an earlier second are not sent yet, those of a later second are dropped.
struct ReadingSender {
    private(set) var settings: ReadingFeedSettings
    private var feed: ReadingFeed
    private var tokens = SideTokens(.readingFeed)
    private var unsent: Set<SideToken> = []
    /// Messages that were dropped because the connection was too slow.
    private(set) var dropped: UInt64 = 0
    /// Whether the site had a list of tags when it was last known. Without a connection the list may be there still.
    private var hasSite = false
    /// When the connection was made; nil: there is none.
    private var connected: MonotonicInstant?
    /// After this time on a connection without a list of tags the site has none.
    private static let patience: Duration = .seconds(10)
    /// Whether the service was told, on this connection, that its list cannot be decrypted.
    private var hasComplained = false

    /// - Parameter startID: Up to 32 characters that are different at each start of the program.
    init(_ settings: ReadingFeedSettings, startID: String) {
        self.settings = settings
        feed = ReadingFeed(startID: startID, actsAsNode: settings.actsAsNode)
    }

    /// Whether there is a list of tags.
    var isOn: Bool { feed.isOn }

    /// When messages of the feed are due; nil: none are.
    var nextDeadline: MonotonicInstant? { feed.nextDeadline }

    /// Whether the total of reports has to be passed before the next input.
    func needsReports(at now: MonotonicInstant) -> Bool { feed.endsSecond(at: now) }

    /// Applies settings under which the feed can go on.
    ///
    /// - Returns: false if it has to begin anew.
    mutating func adopt(_ new: ReadingFeedSettings) -> Bool {
        guard new.site == settings.site, new.gateway == settings.gateway, new.actsAsNode == settings.actsAsNode,
            new.seal == settings.seal
        else { return false }
        settings = new
        return true
    }

    /// Handles an input.
    ///
    /// - Returns: The messages that are due.
    mutating func handle(_ input: ReadingFeed.Input, at now: MonotonicInstant) -> [ReadingFeed.Message] {
        feed.handle(input, at: now)
    }

    /// The site's list of tags has come; nil: it was removed.
    mutating func setSite(_ hasSite: Bool) { self.hasSite = hasSite }

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
    mutating func answered(_ token: SideToken) { unsent.remove(token) }

    /// - Parameters:
    ///   - regionName: The name of a region that a beacon belongs to; nil if it belongs to none.
    ///   - publish: Returns false if the connection takes no more.
    mutating func send(
        _ messages: [ReadingFeed.Message], regionName: (BeaconID) -> String?,
        _ publish: (Publication, SideToken) -> Bool
    ) {
        guard unsent.isEmpty else {
            dropped += UInt64(messages.count)
            return
        }
        for message in messages {
            let token = tokens.next()
            if publish(publication(of: message, regionName), token) { unsent.insert(token) } else { dropped += 1 }
        }
    }

    private func publication(of message: ReadingFeed.Message, _ regionName: (BeaconID) -> String?) -> Publication {
        let (topic, payload) =
            switch message {
            case .heard(let payload): (settings.heard, settings.seal.sealed(payload, for: settings.heard))
            case .node(let beacon, let payload): (settings.topic(of: beacon), payload)
            case .nearby(let beacons):
                (settings.nearby, settings.seal.sealed(Self.payload(of: beacons, regionName), for: settings.nearby))
            }
        return Publication(.transient, topic: topic, payload: payload, qos: .atMostOnce)
    }

    private static func payload(of beacons: [NearbyBeacon], _ regionName: (BeaconID) -> String?) -> [UInt8] {
        NearbyReading.payload(
            beacons.map {
                NearbyReading(beacon: $0.beacon, level: $0.level.map(Float.init), region: regionName($0.beacon))
            })
    }
}
