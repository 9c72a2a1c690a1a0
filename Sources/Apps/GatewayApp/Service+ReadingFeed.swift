import Base
import Beacon
import Configuration
import Gateway
import Messaging
import OwnTracks
import ReadingFeed
import Runtime
import Scanning
import Shell
import SiteProtocol

/// The feed of readings for the rooms service. Without a list of tags of its site, or in quiet mode, the gateway
/// publishes no readings.
extension Service {
    /// Starts or stops the feed as the configuration requires. A list of tags stays valid.
    func prepareReadingFeed() {
        let wanted = ReadingFeedLink.Settings(configuration)
        guard wanted != readingFeed?.settings else { return }
        if let wanted, readingFeed?.adopt(wanted) == true {
            if readingFeed?.isOn == true { publishCard() }
            return
        }
        readingFeed = wanted.map { settings in
            let timer = host.timer { [unowned self] now in
                readingFeed?.fired()
                feed(.tick, at: now)
            }
            return ReadingFeedLink(settings, boot: Self.randomBoot(), timer: timer) { [unowned self] beacon in
                app.core.regionName(of: beacon)
            }
        }
        for adapter in links.radio.adapters {
            if let duty = adapter.duty { feed(.scanDuty(adapter.receiver, duty), at: host.now) }
            feed(.listening(adapter.receiver, adapter.isListening), at: host.now)
        }
    }

    /// The configuration has changed, and the connection has not.
    func refreshReadingFeed() {
        prepareReadingFeed()
        links.availability.subscribe(to: availabilityFilters)
    }

    /// The subscriptions of the availability's connection.
    var availabilityFilters: Set<String> {
        var filters = home?.subscriptions ?? []
        if let phoneFilter { filters.insert(phoneFilter) }
        guard let readingFeed else { return filters }
        filters.insert(readingFeed.settings.tags)
        if readingFeed.isOn { filters.insert(readingFeed.settings.nearbyRequest) }
        return filters
    }

    /// Whether the gateway sends the readings of a site's tags, or may do so when the site's list arrives.
    func servesSite(at now: MonotonicInstant) -> Bool {
        let broker = configuration.broker
        return broker.endpoint == nil && !broker.isOffline && readingFeed?.mayHaveSite(at: now) == true
    }

    /// Passes an input to the feed.
    func feed(_ input: ReadingFeed.Input, at now: MonotonicInstant) {
        let connection = app.core.mayPublish(.readings, of: 0, at: now) ? links.availability : nil
        if readingFeed?.needsReports(at: now) == true {
            let reports = links.radio.adapters.reduce(0) { $0 &+ $1.reports }
            readingFeed?.handle(.reports(reports), at: now, by: connection)
        }
        readingFeed?.handle(input, at: now, by: connection)
    }

    /// Handles a message on the availability's connection.
    ///
    /// - Returns: false if the message is not for the feed.
    func feedReceived(_ message: ReceivedMessage) -> Bool {
        guard let readingFeed else { return false }
        if message.topic.hasSameBytes(as: readingFeed.settings.nearbyRequest) {
            search(message, readingFeed.settings)
            return true
        }
        guard message.topic.hasSameBytes(as: readingFeed.settings.tags) else { return false }
        // An empty message removes a retained one.
        guard !message.payload.isEmpty else {
            self.readingFeed?.hasSite = false
            feed(.tags(nil), at: host.now)
            links.availability.subscribe(to: availabilityFilters)
            return true
        }
        let list: [UInt8]
        do throws(SealError) {
            list = try readingFeed.settings.opened(message.payload)
        } catch {
            refuseList(on: message.topic, because: error)
            return true
        }
        do {
            let tags = try FeedDecoder.tags(list).beacons
            let isNews = !readingFeed.isOn
            self.readingFeed?.hasSite = true
            namedTags = Set(tags.map(\.uuid))
            namePhones()
            feed(.tags(tags), at: host.now)
            guard isNews else {
                publishTagPhones()
                return true
            }
            links.availability.subscribe(to: availabilityFilters)
            log.info("site '\(readingFeed.settings.site)' has \(tags.count) tags; their readings are published")
            publishCard()
        } catch {
            log.once("tags", .warning, "the list of tags on \(message.topic) is ignored: \(error)")
        }
        return true
    }

    /// The page of the rooms service asks which beacons are near that are no tags.
    private func search(_ message: ReceivedMessage, _ settings: ReadingFeedLink.Settings) {
        guard !message.retained, !message.payload.isEmpty else { return }
        do {
            let request = try settings.opened(request: message.payload)
            feed(.nearby(try FeedDecoder.nearbyRequest(request)), at: host.now)
        } catch {
            log.once("nearby", .warning, "a request on \(message.topic) is ignored: \(error)")
        }
    }

    /// Handles a list of tags that another key has encrypted, or none. The feed stays as it is: a client without the key
    /// must not stop it. If there is no feed, an empty card makes the service name this gateway: nothing else would say
    /// there that it lacks the key.
    private func refuseList(on topic: String, because reason: SealError) {
        log.once("tags", .warning, "the list of tags on \(topic) is ignored: \(reason)")
        guard app.core.mayPublish(.readings, of: 0, at: host.now), readingFeed?.mayComplain() == true,
            let settings = readingFeed?.settings
        else { return }
        publish(GatewayCard(), settings)
    }

    /// Publishes the card with the room of this gateway.
    private func publishCard() {
        guard let settings = readingFeed?.settings else { return }
        var card = GatewayCard(room: settings.room, version: Program.version, scanner: links.radio.way)
        let clock = app.core.wallClock
        if clock.isKnown { card.since = clock.epochSeconds(at: monitor.startedAt) }
        card.phones = tagPhones
        readingFeed?.publishedPhones = card.phones
        publish(card, settings)
    }

    /// The tags that are phones whose key this gateway has. The rooms service allows them longer pauses.
    private var tagPhones: [BeaconUUID] {
        Array(
            phoneUUIDs.intersection(namedTags).sorted { $0.description < $1.description }.prefix(GatewayCard.mostPhones)
        )
    }

    /// Publishes the card again if other tags are phones than it says.
    func publishTagPhones() {
        guard let readingFeed, readingFeed.isOn, readingFeed.publishedPhones != tagPhones else { return }
        publishCard()
    }

    private func publish(_ card: GatewayCard, _ settings: ReadingFeedLink.Settings) {
        let publication = Publication(
            .state, topic: settings.card, payload: settings.seal.sealed(card.payload, for: settings.card),
            isRetained: true)
        if !links.availability.publish(publication, as: MessageToken(rawValue: 0)) {
            log.once("card", .warning, "the broker's queue is full")
        }
    }

    private static func randomBoot() -> String { String(UInt64.random(in: .min ... .max), radix: 16) }
}
