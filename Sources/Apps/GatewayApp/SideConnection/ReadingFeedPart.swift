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

/// The rooms service's part of the second connection: the feed of readings. Without a list of tags of its site, or in quiet
/// mode, the gateway publishes no readings.
final class ReadingFeedPart: SidePart {
    let name = SidePartName.readingFeed
    private unowned let app: App<Gateway>
    private unowned let side: SideConnection
    private let radio: any RadioLink
    private let survey: SurveyPart
    /// When the gateway was started.
    private let startedAt: MonotonicInstant
    /// nil while the configuration has no rooms service.
    private var sender: ReadingSender?
    /// Fires when messages are due. It exists while the sender does.
    private var timer: (any ServiceTimer)?
    /// When the timer fires; nil: it is not armed.
    private var armed: MonotonicInstant?
    /// The UUIDs of the site's tags.
    private(set) var tags: Set<BeaconUUID> = []
    /// The phones in the card that was published last.
    private var publishedPhones: [BeaconUUID] = []
    /// The adapters in it.
    private var publishedAdapters: [DeviceAddress] = []
    /// What it says of the beacon that this gateway sends.
    private var publishedSurvey: SurveySending?

    init(_ app: App<Gateway>, _ side: SideConnection, _ radio: any RadioLink, _ survey: SurveyPart) {
        (self.app, self.side, self.radio, self.survey) = (app, side, radio, survey)
        startedAt = app.host.now
    }

    /// nil while the configuration has no rooms service.
    var settings: ReadingFeedSettings? { sender?.settings }
    /// Whether there is a list of tags.
    var isOn: Bool { sender?.isOn == true }

    /// Whether the gateway sends the readings of a site's tags, or may do so when the site's list arrives.
    func servesSite(at now: MonotonicInstant) -> Bool {
        let broker = app.settings.configuration.broker
        return broker.endpoint == nil && !broker.isOffline && sender?.mayHaveSite(at: now) == true
    }

    // MARK: - Settings

    /// Starts or stops the feed as the configuration requires. A list of tags stays valid.
    func prepare() {
        let wanted = ReadingFeedSettings(app.settings.configuration)
        guard wanted != sender?.settings else { return }
        if let wanted, sender?.adopt(wanted) == true {
            if isOn { publishCard() }
            return
        }
        stop()
        guard let wanted else { return }
        publishedPhones = []
        sender = ReadingSender(wanted, startID: Self.randomStartID())
        timer = app.host.timer { [unowned self] now in tick(at: now) }
        for adapter in radio.adapters {
            if let duty = adapter.duty { handle(.scanDuty(adapter.receiver, duty), at: app.host.now) }
            handle(.listening(adapter.receiver, adapter.isListening), at: app.host.now)
        }
    }

    /// The configuration has changed, and the connection has not.
    func refresh() {
        prepare()
        side.subscribe()
    }

    func stop() {
        (sender, timer, armed) = (nil, nil, nil)
        survey.adopt(nil, by: "")
    }

    private static func randomStartID() -> String { String(UInt64.random(in: .min ... .max), radix: 16) }

    // MARK: - Readings

    /// Passes an input to the feed, and publishes the messages that are due; in quiet mode none.
    func handle(_ input: ReadingFeed.Input, at now: MonotonicInstant) {
        guard sender != nil else { return }
        let isQuiet = !app.core.mayPublish(.readings, of: 0, at: now)
        survey.setQuiet(isQuiet)
        if sender?.needsReports(at: now) == true {
            send(.reports(radio.adapters.reduce(0) { $0 &+ $1.reports }), isQuiet, at: now)
        }
        send(input, isQuiet, at: now)
    }

    private func send(_ input: ReadingFeed.Input, _ isQuiet: Bool, at now: MonotonicInstant) {
        let messages = sender?.handle(input, at: now) ?? []
        if !messages.isEmpty, !isQuiet {
            sender?.send(messages, regionName: { app.core.regionName(of: $0) }) { side.publish($0, as: $1) }
        }
        guard let deadline = sender?.nextDeadline else { return }
        if let armed, armed <= deadline { return }
        armed = deadline
        timer?.arm(at: deadline)
    }

    private func tick(at now: MonotonicInstant) {
        armed = nil
        handle(.tick, at: now)
    }

    // MARK: - The connection

    var filters: Set<String> {
        guard let settings else { return [] }
        return isOn ? [settings.tags, settings.nearbyRequest] : [settings.tags]
    }

    func connected(at now: MonotonicInstant) { sender?.connected(at: now) }

    func disconnected(at now: MonotonicInstant) {
        sender?.disconnected(at: now)
        // Nobody can say any longer that it is to be sent.
        survey.adopt(nil, by: "")
    }

    func answered(_ token: SideToken?) {
        if let token { sender?.answered(token) }
    }

    func received(_ message: ReceivedMessage, at now: MonotonicInstant) -> Bool {
        guard let settings else { return false }
        if message.topic.hasSameBytes(as: settings.nearbyRequest) {
            search(message, settings, at: now)
            return true
        }
        guard message.topic.hasSameBytes(as: settings.tags) else { return false }
        // An empty message removes a retained one.
        guard !message.payload.isEmpty else {
            sender?.setSite(false)
            survey.adopt(nil, by: "")
            handle(.tags(nil), at: now)
            side.subscribe()
            return true
        }
        do throws(SealError) {
            adopt(try settings.opened(message.payload), settings, at: now)
        } catch {
            refuseList(settings, because: error, at: now)
        }
        return true
    }

    private func adopt(_ list: [UInt8], _ settings: ReadingFeedSettings, at now: MonotonicInstant) {
        do {
            let list = try FeedDecoder.tags(list)
            let beacons = list.beacons
            let isNews = !isOn
            survey.setQuiet(!app.core.mayPublish(.readings, of: 0, at: now))
            survey.adopt(list.survey, by: settings.gateway)
            sender?.setSite(true)
            tags = Set(beacons.map(\.uuid))
            side.owner?.tagsChanged()
            handle(.tags(beacons, gateways: survey.heard), at: now)
            guard isNews else {
                publishPhones()
                return publishSurvey()
            }
            side.subscribe()
            app.log.info("site '\(settings.site)' has \(beacons.count) tags; their readings are published")
            publishCard()
        } catch {
            app.log.once("tags", .warning, "the list of tags on \(settings.tags) is ignored: \(error)")
        }
    }

    /// The page of the rooms service asks which beacons are near that are no tags.
    private func search(_ message: ReceivedMessage, _ settings: ReadingFeedSettings, at now: MonotonicInstant) {
        guard !message.retained, !message.payload.isEmpty else { return }
        do {
            let request = try settings.opened(request: message.payload)
            handle(.nearby(try FeedDecoder.nearbyRequest(request)), at: now)
        } catch {
            app.log.once("nearby", .warning, "a request on \(message.topic) is ignored: \(error)")
        }
    }

    /// Handles a list of tags that another key has encrypted, or none. The feed stays as it is: a client without the key
    /// must not stop it. If there is no feed, an empty card makes the service name this gateway: nothing else would say
    /// there that it lacks the key.
    private func refuseList(_ settings: ReadingFeedSettings, because reason: SealError, at now: MonotonicInstant) {
        app.log.once("tags", .warning, "the list of tags on \(settings.tags) is ignored: \(reason)")
        guard app.core.mayPublish(.readings, of: 0, at: now), sender?.mayComplain() == true else { return }
        publish(GatewayCard(), settings)
    }

    // MARK: - The card

    /// Publishes the card again if other tags are phones than it says.
    func publishPhones() {
        guard isOn, publishedPhones != phones else { return }
        publishCard()
    }

    /// An adapter began to listen. Publishes the card again if it does not name the adapter.
    func publishAdapters() {
        guard isOn, !adapters.isEmpty, publishedAdapters != adapters else { return }
        publishCard()
    }

    /// Publishes the card again if something else has become of the beacon that this gateway is to send than it says.
    func publishSurvey() {
        guard isOn, publishedSurvey != survey.sending else { return }
        publishCard()
    }

    private var adapters: [DeviceAddress] {
        Array(radio.adapters.compactMap(\.address).prefix(GatewayCard.mostAdapters))
    }

    /// Publishes the card with the room of this gateway.
    private func publishCard() {
        guard let settings else { return }
        var card = GatewayCard(
            room: RoomName(settings.room), floor: settings.floor, version: Program.version, scanner: radio.scannerName)
        let clock = app.core.wallClock
        if clock.isKnown { card.since = clock.epochSeconds(at: startedAt) }
        card.phones = phones
        card.adapters = adapters
        card.survey = survey.sending
        (publishedPhones, publishedAdapters, publishedSurvey) = (card.phones, card.adapters, card.survey)
        publish(card, settings)
    }

    /// The tags that are phones whose key this gateway has. The rooms service allows them longer pauses.
    private var phones: [BeaconUUID] {
        let keys = side.owner?.phoneUUIDs ?? []
        return Array(
            keys.intersection(tags).sorted { $0.description < $1.description }.prefix(GatewayCard.mostPhones))
    }

    private func publish(_ card: GatewayCard, _ settings: ReadingFeedSettings) {
        let publication = Publication(
            .state, topic: settings.card, payload: settings.seal.sealed(card.payload, for: settings.card),
            isRetained: true)
        if !side.publish(publication) { app.log.once("card", .warning, "the broker's queue is full") }
    }
}
