package import Base
package import Configuration
package import Health
import JSON
package import Messaging
import OwnTracks
import PageServer
package import Regions
package import Rooms
package import Runtime
package import Shell
package import SiteCore
import SiteProtocol
package import Storage
package import System

extension Site: ServiceCore {}
extension Site.Input: ServiceInput {}

/// The rooms service of one site: it receives the readings of gateways and publishes the rooms of tags.
///
/// It turns the events of the links into inputs of `Site`, and carries out what only this core decides. `App` does the
/// rest. One thread uses it.
package final class RoomService {
    package let app: App<Site>
    private let identity: RoomServiceIdentity
    private(set) var door: SiteDoor
    let startedAt: MonotonicInstant
    /// Messages of the broker that were dropped before the connection was made.
    private var droppedBefore = 0
    /// Whether the card of a gateway was dropped that is needed now.
    private var lacksCard = false
    /// When the last connection was made to read again what the broker retains.
    private var reread: MonotonicInstant?
    private var rereadTimer: (any ServiceTimer)?
    /// Shortest time between two such connections: any client can fill the broker.
    private static let rereadPeriod: Duration = .seconds(60)
    /// Beacons that are not tags, for the page.
    var nearby = NearbyBeacons()
    /// The time line of the day, for the page.
    var dayLog = DayLog()
    /// What the page answers to who adds a gateway; nil: nothing.
    var offer: GatewayOffer?
    /// What the package manager of this machine knows of newer versions.
    var packages = PackageLists()

    /// - Parameter bounds: The largest numbers of gateways, rooms and tags.
    /// - Throws: The first error of `rooms` in the configuration.
    package init(
        settings: Settings, links: AppLinks, host: any ServiceHost, log: Log,
        bounds: RoomEngine.Bounds = RoomEngine.Bounds()
    ) throws(Failure) {
        identity = try RoomServiceIdentity(settings.configuration)
        door = SiteDoor(settings.configuration)
        startedAt = host.now
        var siteSettings = identity.siteSettings(settings)
        siteSettings.bounds = bounds
        let site = Site(siteSettings, wallClock: host.wallClock)
        app = App(core: site, settings: settings, links: links, host: host, log: log)
    }

    package var site: Site { app.core }
    var host: any ServiceHost { app.host }
    private var log: Log { app.log }
    var configuration: Configuration { app.settings.configuration }

    /// Opens the page and the store. The service starts work when the store is open.
    package func start() throws {
        try openPage()
        rereadTimer = host.timer { [unowned self] _ in rereadRetained() }
        try app.start(self) { [seal = door.seal] waiting in
            waiting.stamped(createsRegions: true).map { seal.sealed($0, for: waiting.publication.topic) }
        }
    }

    /// Passes an input to the core.
    func handle(_ input: Site.Input) { app.handle(input, at: host.now) }
}

/// What only the rooms service does at the events of the links that every service has.
extension RoomService: AppOwner {
    package typealias Core = Site

    // MARK: - Decisions

    package func decision(of effects: [Site.Effect], at now: MonotonicInstant) -> Decision {
        var decision = Decision()
        for effect in effects {
            if case .send(let publication) = effect { decision.publications.append(sealed(publication)) }
            if let change = change(for: effect, at: now) { decision.changes.append(change) }
        }
        return decision
    }

    package func finish(_ effects: [Site.Effect]) {
        var isShown = false
        for effect in effects {
            switch effect {
            case .publish, .pageChanged: isShown = true
            case .deliver: app.delivers(true)
            case .found(let finding): log.once("\(finding)", .warning, finding.text)
            case .refused(let error, let topic):
                log.once("feed", .warning, "a message on \(MalformedMessages.shown(topic)) was refused: \(error)")
            case .log(let priority, let text, let kind?) where kind.hasSuffix("-refused"):
                log.each(kind, priority, text, of: .refusals)
            case .log(let priority, let text, let kind?): log.once(kind, priority, text)
            case .log(let priority, let text, nil):
                // Notices tell what was decided of tags.
                log.write(priority, text, of: priority == .notice ? .transitions : .general)
            case .cardMissing: lacksCard = true
            case .record(let visit): if let entry = past(visit, at: host.now) { dayLog.add(entry) }
            case .eraseHistory(let topic): dayLog.erase(topic)
            case .send, .regions, .regionsMoved, .store, .editsTaken, .obsoleteRemoved: break
            }
        }
        if isShown { app.changed() }
        // Last, because the inputs that follow make decisions of their own.
        for effect in effects {
            switch effect {
            case .obsoleteRemoved, .cardMissing: rereadRetained()
            case .publish, .send, .record, .regions, .regionsMoved, .store, .editsTaken, .eraseHistory, .deliver,
                .found,
                .refused, .log, .pageChanged:
                break
            }
        }
    }

    /// Of tens of thousands of retained states a part is dropped on the way here. A new connection brings what is left of them.
    private func rereadRetained() {
        guard lacksCard || app.links.broker.droppedMessages > droppedBefore else { return }
        let now = host.now
        if let due = reread?.advanced(by: Self.rereadPeriod), now < due { return rereadTimer?.arm(at: due) ?? () }
        (reread, lacksCard) = (now, false)
        log.notice("not all that the broker retains has arrived; connecting again for the rest")
        app.disconnect()
        app.connect()
    }

    /// The change in the store for an effect; nil if the effect has none.
    private func change(for effect: Site.Effect, at now: MonotonicInstant) -> StoreChange? {
        let base = identity.topics.base
        switch effect {
        case .publish(let publication):
            // A message that waits for its times is encrypted when they are known.
            let happened = site.whereabouts.unstampedInstant(of: publication, at: now)
            var message = happened == nil ? sealed(publication) : publication.message(to: identity.addresses)
            (message.owner, message.happened, message.stamp) = (base, happened ?? now, stamp(happened != nil))
            return .message(message)
        case .record(let visit): return past(visit, at: now).map(StoreChange.history)
        case .regions(let tags): return .regions(tracker: base, tags.regions)
        case .regionsMoved(let former): return .regions(tracker: former, [])
        case .store(let value):
            let key = value.key(ofService: base)
            switch value {
            // Of ten thousand tags.
            case .learned, .heard, .surveyLevels: return .madeValue(key: key) { value.bytes(ofService: base) ?? [] }
            default: return .value(key: key, value.bytes(ofService: base))
            }
        case .editsTaken(let topic, let last): return .editsTaken(tracker: topic ?? base, upTo: last)
        case .eraseHistory(let topic): return .eraseHistory(tracker: topic)
        case .send, .deliver, .found, .refused, .log, .pageChanged, .cardMissing, .obsoleteRemoved: return nil
        }
    }

    /// A visit as the history has it; nil if no history is kept.
    private func past(_ visit: RoomVisit, at now: MonotonicInstant) -> PastTransition? {
        guard configuration.roomHistoryDays != 0 else { return nil }
        return PastTransition(
            visit, tracker: identity.addresses.topic(ofTag: visit.tag.id), stamp: stamp(!app.wallClock.isKnown),
            happened: now)
    }

    private func stamp(_ isProvisional: Bool) -> WallStamp { isProvisional ? .provisional : .exact }

    /// The message of a publication, encrypted with the key of the site, if there is one.
    private func sealed(_ publication: SitePublication) -> Publication {
        var message = publication.message(to: identity.addresses)
        message.payload = door.seal.sealed(message.payload, for: message.topic)
        return message
    }

    // MARK: - The store

    package func restore(_ snapshot: StoreSnapshot, at now: MonotonicInstant) {
        let base = identity.topics.base
        var stored = StoredSite(snapshot.values, regions: snapshot.regions, ofService: base)
        stored.isEdited = snapshot.edits.contains { if case .tags(.some) = edit($0).change { true } else { false } }
        app.handle(.start(stored), at: now)
    }

    package func begin(with snapshot: StoreSnapshot, at now: MonotonicInstant) -> String {
        let text = "\(counted(site.tags.count, "tag")), \(counted(snapshot.outboxCount, "message")) waiting"
        log.notice("ibeacon-gateway \(Program.version) decides about site '\(identity.site)': \(text)")
        return text
    }

    package func merge(_ edits: [RegionEdit], at now: MonotonicInstant) {
        app.handle(.edits(edits.map(edit)), at: now)
    }

    /// Converts a stored edit for the core.
    private func edit(_ edit: RegionEdit) -> SiteEdit {
        if edit.change == .eraseHistory { return SiteEdit(id: edit.id, .eraseHistory(topic: edit.tracker)) }
        return SiteEdit(
            id: edit.id, .tags(edit.tracker.hasSameBytes(as: identity.topics.base) ? edit.regionChange : nil))
    }

    package func historyBegin(at epochSeconds: Int64) -> Int64? {
        Configuration.historyBegin(configuration.roomHistoryDays, at: epochSeconds)
    }

    // MARK: - The broker

    package func connection(at now: MonotonicInstant) -> BrokerRequest? {
        guard configuration.broker.endpoint == nil else {
            log.error("mode 3 (HTTP): a rooms service needs an MQTT broker")
            return nil
        }
        guard !configuration.broker.isOffline else {
            log.error("offline (port 0): the rooms service needs a broker")
            return nil
        }
        return BrokerRequest(
            settings: identity.brokerSettings(configuration, instance: site.election.instance, door.seal),
            filters: filters)
    }

    private var filters: Set<String> {
        var filters = Set(RoomTopics.filters(of: identity) + [DeviceTopics.availabilities])
        // ESPresense does not encrypt, so any client could publish readings without the site's key.
        if door.seal.allowsPlain {
            filters.formUnion(RoomTopics.espresense)
        }
        if configuration.obeysCommands { filters.insert(identity.topics.command) }
        return filters.union(site.discovery?.subscriptions ?? [])
    }

    // Stored messages are the decisions of an active service. Those of a service that is no longer active are obsolete.
    package var deliversAtOnce: Bool { site.role == .active }
    package func delivers(_ publication: Publication) -> Bool { site.role == .active }

    package func opened() { droppedBefore = app.links.broker.droppedMessages }
    package func connected(isNew: Bool, at now: MonotonicInstant) { app.handle(.brokerConnected, at: now) }

    package func disconnected(at now: MonotonicInstant) {
        // Before the connection that comes next, which may drop messages before it is known here.
        droppedBefore = app.links.broker.droppedMessages
        app.handle(.brokerDisconnected, at: now)
    }

    package func consequence(of refused: Refused) -> RefusalRecord.Consequence? {
        guard refused.connection == BrokerSettings.readings, refused.kind == .clientID else { return "" }
        return "readings come over the first connection, where a flood of them takes other messages with it"
    }

    // MARK: - What arrives

    /// Handles a message according to its topic.
    package func received(_ message: ReceivedMessage, at now: MonotonicInstant) {
        if message.topic.hasSameBytes(as: identity.topics.command) { return obey(message) }
        if let discovery = site.discovery, discovery.birthTopics.contains(message.topic) {
            // A retained birth message is old.
            if !message.retained, message.payload == Array("online".utf8) { handle(.homeAssistantStarted) }
            return
        }
        if site.discovery?.isDescription(message.topic) == true {
            let description = Publication.homeAssistant(message.topic, String(decoding: message.payload, as: UTF8.self))
            return handle(.entity(description, isRetained: message.retained))
        }
        guard let topic = RoomTopic(message.topic) else {
            guard RoomTopics.isOfNode(message.topic) else { return }
            return handle(.malformed(FeedError("its topic is none of ESPresense's"), topic: message.topic))
        }
        guard topic.site ?? identity.site == identity.site,
            let payload = opened(message, topic, at: now)
        else { return }
        do throws(FeedError) {
            guard let read = try SiteMessage(topic, payload) else { return }
            if case .nearby(let gateway, let readings) = read {
                nearby.record(readings, of: gateway, besides: site.siteTags.list.minors?.beacons, at: now)
            }
            handle(.message(read, isRetained: message.retained))
        } catch {
            handle(.malformed(error, topic: message.topic))
        }
    }

    /// Decrypts a message of the site.
    ///
    /// - Returns: nil if the message is refused.
    private func opened(_ message: ReceivedMessage, _ topic: RoomTopic, at now: MonotonicInstant) -> [UInt8]? {
        defer { if site.whereabouts.gateways.strangers != door.unreadable { handle(.strangers(door.unreadable)) } }
        do throws(SealError) {
            let opened = try door.open(message.payload, of: topic, at: now)
            guard message.retained, door.seal.isSealedInVain(message.payload, of: topic) else { return opened }
            // It is what the site should have, in a form that is not to be read: it is published again.
            let reason = "it is encrypted, and with rooms.plainState it is to be plain"
            handle(.sealed(topic, reason: reason, isRetained: true))
            return nil
        } catch {
            handle(.sealed(topic, reason: "\(error)", isRetained: message.retained))
            return nil
        }
    }

    /// An empty message removes a retained command, and is none.
    private func obey(_ message: ReceivedMessage) { if !message.payload.isEmpty { handle(command(in: message)) } }

    private func command(in message: ReceivedMessage) -> Site.Input {
        let (payload, nonce): ([UInt8], [UInt8]?)
        do throws(SealError) {
            (payload, nonce) = try door.seal.opened(command: message.payload)
        } catch {
            return .sealedCommand(error == .plain ? .unencrypted : .malformed, reason: "\(error)")
        }
        let json = Result { () throws(JSONError) in try JSONValue(parsing: payload) }
        // The seal has checked whether the command must be encrypted.
        return .command(
            ReceivedCommand(
                tracker: 0,
                command: json.mapError(CommandError.malformed).flatMap { json in
                    Result { () throws(CommandError) in try Command(json, base: configuration.numberBase) }
                },
                isRetained: message.retained, wasEncrypted: true,
                digest: CommandDigest(of: message.payload).command(at: 0),
                envelope: nonce.map { CommandEnvelope(nonce: $0, time: (try? json.get())?["tst"]?.asInteger) }))
    }

    // MARK: - The rest

    package func adopt(_ new: Settings) throws(Failure) -> Reload {
        _ = try RoomServiceIdentity(new.configuration)
        let reload = Reload(from: configuration, to: new.configuration, in: .rooms)
        // At the same broker the service stays the active one of the site, because it is back at once.
        if reload.configuration.broker.name != configuration.broker.name { handle(.leavesBroker) }
        app.settings = new
        app.settings.configuration = reload.configuration
        return reload
    }

    package func putInForce(_ reload: Reload) {
        handle(.settings(identity.siteSettings(app.settings)))
        // Before the state is read, there is no connection.
        guard site.isStarted else { return }
        guard reload.needsConnection else { return app.links.broker.subscribe(to: filters) }
        app.disconnect()
        app.connect()
    }

    /// Another service can take over at once.
    package func stop() {
        rereadTimer = nil
        handle(.leavesBroker)
    }
}

extension PastTransition {
    /// A visit as a transition of the tag; the region is the room.
    fileprivate init(_ visit: RoomVisit, tracker: String, stamp: WallStamp, happened: MonotonicInstant) {
        self.init(
            tracker: tracker, rid: visit.room.id, name: visit.room.name,
            event: visit.event == .begins ? .enter : .leave, beacon: nil, timestamp: visit.timestamp, stamp: stamp,
            happened: happened)
    }
}
