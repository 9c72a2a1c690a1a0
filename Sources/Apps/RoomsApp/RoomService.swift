import Base
import Configuration
import Health
import Messaging
import OwnTracks
import Regions
package import Runtime
package import Shell
package import SiteCore
import SiteProtocol
import Storage
package import System

/// The rooms service of one site: it receives the readings of gateways and publishes the rooms of tags.
///
/// `Site` decides; this class executes. Each decision is one transaction of the store, and the store hands its
/// messages to the broker. The class is used by one thread.
package final class RoomService {
    let host: any ServiceHost
    let links: Links
    let log: Log
    private(set) var settings: Settings
    private let identity: RoomServiceIdentity
    package private(set) var site: Site
    private var timers: Timers?
    /// Whether the stored state was read.
    private var isRestored = false
    private(set) var door: SiteDoor
    /// Events from the broker that are not handled yet.
    private var brokerEvents: ArraySlice<BrokerEvent> = []
    /// The last token of a message that does not go through the outbox. Such tokens are negative.
    private var lastToken: Int64 = 0

    /// The connections of the service, and the monitor that reports their state to the page.
    struct Links {
        let store: any StoreLink
        let broker: any BrokerLink
        /// nil if the service has no page.
        let status: (any StatusLink)?
        let monitor: SiteMonitor
    }

    private var store: any StoreLink { links.store }
    private var broker: any BrokerLink { links.broker }

    /// The timers exist between start and stop.
    private struct Timers {
        let deadline: (any ServiceTimer)?
        /// Continues with the remaining events of the broker.
        let brokerTurn: (any ServiceTimer)?
        /// Deletes old visits.
        let history: (any ServiceTimer)?
    }

    /// Time from the start to the first deletion of old visits. The wall clock is set meanwhile.
    private static let firstPruning: Duration = .seconds(900)
    private static let pruningPeriod: Duration = .seconds(86_400)
    /// After this time a turn of the loop leaves the remaining events of the broker to the next turn. Ten thousand
    /// messages may be waiting, and timers and signals are served between turns.
    private static let longestTurn: Duration = .milliseconds(20)
    /// Largest number of unacknowledged messages at the broker.
    private static let window = 20

    /// - Throws: The first error of `rooms` in the configuration.
    package init(
        settings: Settings, store: any StoreLink, broker: any BrokerLink, status: (any StatusLink)? = nil,
        host: any ServiceHost, log: Log
    ) throws(Failure) {
        (self.settings, self.host, self.log) = (settings, host, log)
        links = Links(store: store, broker: broker, status: status, monitor: SiteMonitor(at: host.now))
        identity = try RoomServiceIdentity(settings.configuration)
        site = Site(Self.siteSettings(settings, identity))
        door = SiteDoor(settings.configuration)
    }

    private static func siteSettings(_ settings: Settings, _ identity: RoomServiceIdentity) -> SiteSettings {
        let configuration = settings.configuration
        var site = SiteSettings(configuration)
        site.site = identity.site
        site.user = identity.user
        site.instance = configuration.rooms?.instance ?? TopicIdentifier.identifier(of: Settings.hostName)
        site.version = Program.version
        site.areCardsSealed = SiteSeal(configuration.rooms).isOn
        if configuration.homeAssistant.discovery {
            site.discovery = SiteDiscovery.Settings(
                prefix: configuration.homeAssistant.prefix, site: identity.site, version: Program.version)
        }
        return site
    }

    /// Opens the page and the store. The service starts work when the store is open.
    package func start() throws {
        try openPage()
        timers = Timers(
            deadline: host.timer { [unowned self] _ in handle(.tick) },
            brokerTurn: host.timer { [unowned self] _ in handleBrokerEvents() },
            history: host.timer(tolerance: .seconds(60)) { [unowned self] _ in
                pruneHistory()
                timers?.history?.arm(after: Self.pruningPeriod)
            })
        try store.open(
            StoreSettings(
                directory: settings.stateDirectory, boot: host.bootID, now: { Clocks.now() }, restamp: { _ in nil })
        ) { [unowned self] in handleStoreEvents() }
    }

    /// Shuts down in order: the learned data is written to the disk, and another service can take over at once.
    package func stop() {
        guard timers != nil else { return }
        host.report(.stopping)
        log.notice("stopping")
        timers = nil
        links.status?.close()
        handle(.stopping)
        broker.close(within: broker.isConnected ? .seconds(2) : .zero)
        handleBrokerEvents()
        if !store.close(within: .seconds(10)) { log.error("the disk is too slow; data that was not written is lost") }
        host.exit(.ok)
    }

    /// Reads the configuration file again.
    package func reload() {
        host.report(.reloading)
        defer { host.report(.reloaded) }
        store.submit(.checkEdits)
        guard let path = settings.path else { return log.notice("there is no configuration file to read again") }
        do throws(Failure) {
            var new = try Settings(readingFrom: path, stateDirectory: settings.stateDirectory)
            _ = try RoomServiceIdentity(new.configuration)
            let before = settings.configuration
            let reload = Reload(from: before, to: new.configuration, in: .rooms)
            new.configuration = reload.configuration
            settings = new
            log.notice("read \(path) again; \(reload.text)")
            pruneHistory()
            handle(.settings(Self.siteSettings(settings, identity)))
            applyConnection(reload, before.broker)
        } catch {
            log.error("\(error.message); the old settings stay in force")
        }
    }

    /// Connects again if the settings for the broker differ.
    private func applyConnection(_ reload: Reload, _ before: Broker) {
        // Before the state is read, there is no connection.
        guard isRestored else { return }
        guard reload.needsConnection else { return broker.subscribe(to: filters) }
        // At the same broker the service stays the active one of the site, because it is back at once.
        if before.name != settings.configuration.broker.name { handle(.leavesBroker) }
        broker.close(within: broker.isConnected ? .seconds(2) : .zero)
        handleBrokerEvents()
        handle(.brokerDisconnected)
        // Unfinished messages of that connection are sent on the next one.
        store.submit(.redeliver)
        connect()
    }

    // MARK: - Decisions

    /// Passes an input to the core, and carries out its decision.
    func handle(_ input: Site.Input) {
        let now = host.now
        _ = site.handle(.wallClock(host.wallClock), at: now)
        perform(site.handle(input, at: now))
        if let next = site.nextDeadline { timers?.deadline?.arm(at: next) }
    }

    /// Stores the changes and messages of a decision in one transaction, and carries out the rest.
    private func perform(_ effects: [Site.Effect]) {
        let changes = effects.compactMap(change)
        if !changes.isEmpty { store.submit(.commit(changes)) }
        var isShown = false
        for effect in effects {
            switch effect {
            case .publish, .pageChanged: isShown = true
            case .send(let report): send(report)
            case .delivers(let isOn): store.submit(.window(isOn ? Self.window : 0))
            case .redeliver: store.submit(.redeliver)
            case .found(let finding): log.once("\(finding)", .warning, finding.text)
            case .refused(let error): log.once("feed", .warning, "a message is not taken: \(error)")
            case .log(let priority, let text, let kind?): log.once(kind, priority, text)
            case .log(let priority, let text, nil): log.write(priority, text)
            case .record, .regions, .store, .editsTaken, .eraseHistory: break
            }
        }
        if isShown { links.status?.changed() }
    }

    /// The change in the store for an effect; nil if the effect has none.
    private func change(for effect: Site.Effect) -> StoreChange? {
        let base = identity.topics.base
        switch effect {
        case .publish(let report):
            var message = sealed(report)
            (message.owner, message.happened) = (base, host.now)
            return .message(message)
        case .record(let visit):
            guard settings.configuration.roomHistoryDays != 0 else { return nil }
            return .history(
                HistoryEntry(visit, tracker: identity.addresses.topic(ofTag: visit.tag.id), happened: host.now))
        case .regions(let tags): return .regions(tracker: base, tags.regions)
        case .store(let value):
            let key = value.key(ofService: base)
            if case .learned = value { return .madeValue(key: key) { value.bytes ?? [] } }
            return .value(key: key, value.bytes)
        case .editsTaken(let topic, let last): return .editsTaken(tracker: topic ?? base, upTo: last)
        case .eraseHistory(let topic): return .eraseHistory(tracker: topic)
        case .send, .delivers, .redeliver, .found, .refused, .log, .pageChanged: return nil
        }
    }

    /// Deletes visits that are older than the configured limit, once the time of day is known.
    private func pruneHistory() {
        let clock = host.wallClock
        let now = clock.epochSeconds(at: host.now)
        guard clock.isKnown, let begin = Configuration.historyBegin(settings.configuration.roomHistoryDays, at: now)
        else { return }
        store.submit(.pruneHistory(before: begin))
    }

    // MARK: - The store

    package func handleStoreEvents() {
        for event in store.drainEvents() {
            if let code = event.write(to: log) { host.exit(code) }
            links.monitor.record(event)
            switch event {
            case .opened(let snapshot): begin(with: snapshot)
            case .deliver(let rows): deliver(rows)
            case .regionEdits(let edits): handle(.edits(edits.map(edit)))
            case .stateLost: handle(.stateLost)
            case .kept, .notice, .unavailable, .troubled, .recovered, .failed, .stopped: break
            }
        }
    }

    /// Restores the stored state and connects.
    private func begin(with snapshot: StoreSnapshot) {
        let base = identity.topics.base
        handle(
            .start(
                StoredSite(
                    snapshot.values, regions: snapshot.regions[ExactString(base)] ?? [],
                    edits: snapshot.edits.map(edit), ofService: base)))
        isRestored = true
        connect()
        timers?.history?.arm(after: Self.firstPruning)
        let text = "\(site.tags.count) tags, \(snapshot.outboxCount) messages waiting"
        log.notice("ibeacon-gateway \(Program.version) decides about site '\(identity.site)': \(text)")
        host.report(.ready(status: text))
    }

    /// Converts a stored edit for the core.
    private func edit(_ edit: RegionEdit) -> Site.Edit {
        if edit.change == .eraseHistory { return Site.Edit(id: edit.id, .eraseHistory(topic: edit.tracker)) }
        return Site.Edit(
            id: edit.id, .tags(edit.tracker.hasSameBytes(as: identity.topics.base) ? edit.regionChange : nil))
    }

    // MARK: - The broker

    private func connect() {
        guard settings.configuration.broker.endpoint == nil else {
            return log.error("mode 3 (HTTP): a rooms service needs an MQTT broker")
        }
        guard !settings.configuration.broker.isOffline else {
            return log.error("offline (port 0): the rooms service needs a broker")
        }
        links.monitor.connects(at: host.now)
        do {
            try broker.open(
                identity.brokerSettings(settings.configuration, instance: site.instance, door.seal),
                filters: filters,
                read: nil
            ) {
                [unowned self] in handleBrokerEvents()
            }
        } catch {
            log.error("cannot connect: \(error)")
        }
    }

    private var filters: Set<String> {
        let root = "ibeacon-rooms/\(identity.site)"
        var filters: Set = [
            "\(root)/heard/+", "\(root)/gateway/+", "\(root)/service/+", "\(root)/tag/+", "\(root)/tags",
            "\(root)/learn", "\(root)/nearby/+", "\(root)/room/+", "\(root)/health/+", "ibeacon-gateway/+/availability",
        ]
        // ESPresense does not encrypt, so any client could publish readings without the site's key.
        if door.seal.allowsPlain {
            filters.formUnion(["espresense/devices/+/+", "espresense/rooms/+/status", "espresense/rooms/+/telemetry"])
        }
        if settings.configuration.obeysCommands { filters.insert(identity.topics.command) }
        return filters.union(site.discovery?.subscriptions ?? [])
    }

    /// The next event. New events are taken from the broker's bounded mailbox only when all earlier ones are handled.
    private func nextBrokerEvent() -> BrokerEvent? {
        if brokerEvents.isEmpty { brokerEvents = broker.drainEvents()[...] }
        return brokerEvents.first
    }

    package func handleBrokerEvents() {
        let end = host.now.advanced(by: Self.longestTurn)
        while let event = nextBrokerEvent() {
            let now = host.now
            guard now <= end || timers == nil else {
                timers?.brokerTurn?.arm(at: now)
                break
            }
            brokerEvents.removeFirst()
            if links.monitor.record(event, at: now) { links.status?.changed() }
            switch event {
            case .connected:
                log.notice("connected to the broker")
                handle(.brokerConnected)
            case .disconnected(let failure, let retryIn):
                handle(.brokerDisconnected)
                log.once("broker", .warning, "no broker: \(failure); next try in \(decimal(retryIn)) s")
            case .moved(let host):
                log.notice("the next try is at \(settings.configuration.broker.place(of: host))")
            case .message(let message): receive(message, at: now)
            case .acknowledged(let token): if token.rawValue > 0 { store.submit(.acknowledged(token.rawValue)) }
            case .refused(let token, let refusal):
                log.once("refused", .warning, "a message is set aside: \(refusal)")
                if token.rawValue > 0 { store.submit(.refused(token.rawValue, reason: "\(refusal)")) }
            case .untaken(let message): log.once("untaken", .error, "a message was too large: \(message)")
            case .subscriptionRefused(let filter):
                log.once("subscription", .warning, "the broker refuses to send us \(filter)")
            case .decoded, .subscribed: break
            }
        }
    }

    // MARK: - What arrives

    /// Handles a message according to its topic.
    private func receive(_ message: ReceivedMessage, at now: MonotonicInstant) {
        if message.topic.hasSameBytes(as: identity.topics.command) { return handle(command(in: message)) }
        if let discovery = site.discovery, message.topic == discovery.birthTopic {
            // A retained birth message is old.
            if !message.retained, message.payload == Array("online".utf8) { handle(.homeAssistantStarted) }
            return
        }
        if site.discovery?.isDescription(message.topic) == true {
            return handle(.entity(.homeAssistant(message.topic, String(decoding: message.payload, as: UTF8.self))))
        }
        guard let topic = RoomTopic(message.topic), topic.site ?? identity.site == identity.site,
            let payload = opened(message, topic, at: now)
        else { return }
        do throws(FeedError) {
            guard let read = try SiteMessage(topic, payload) else { return }
            if case .nearby(let gateway, let readings) = read {
                links.monitor.nearby.record(readings, of: gateway, at: now)
            }
            handle(.message(read, isRetained: message.retained))
        } catch {
            handle(.malformed(error))
        }
    }

    /// The core itself reports that it cannot read the card of another service.
    private func isCardOfAnother(_ topic: RoomTopic) -> Bool {
        guard case .service(_, let name) = topic else { return false }
        return name != site.instance
    }

    /// Decrypts a message of the site.
    ///
    /// - Returns: nil if the message is refused.
    private func opened(_ message: ReceivedMessage, _ topic: RoomTopic, at now: MonotonicInstant) -> [UInt8]? {
        defer { if site.gateways.strangers != door.unreadable { handle(.strangers(door.unreadable)) } }
        do throws(SealError) {
            return try door.open(message.payload, of: topic, at: now)
        } catch {
            if !isCardOfAnother(topic) {
                log.once("sealed", .warning, "a message on \(message.topic) is not taken: \(error)")
            }
            handle(.sealed(topic, reason: "\(error)"))
            return nil
        }
    }

    private func command(in message: ReceivedMessage) -> Site.Input {
        let payload: [UInt8]
        do throws(SealError) {
            payload = try door.seal.opened(command: message.payload)
        } catch {
            return .sealedCommand(error == .plain ? .unencrypted : .malformed, reason: "\(error)")
        }
        let base = settings.configuration.numberBase
        // The seal has checked whether the command must be encrypted.
        return .command(
            ReceivedCommand(
                tracker: 0, command: Result { () throws(CommandError) in try Command(parsing: payload, base: base) },
                isRetained: message.retained, wasEncrypted: true,
                digest: CommandDigest(of: message.payload).command(at: 0)))
    }

    // MARK: - What is sent

    /// Publishes rows of the outbox, which are on the disk. The decisions of a service that is no longer active are
    /// obsolete and are dropped.
    private func deliver(_ rows: [OutboxRow]) {
        guard site.role == .active else {
            for row in rows { store.submit(.acknowledged(row.id)) }
            return
        }
        for row in rows {
            publish(row.publication, as: MessageToken(rawValue: row.id))
        }
    }

    private func publish(_ publication: Publication, as token: MessageToken) {
        if !broker.publish(publication, as: token) { log.once("queue", .error, "the broker's queue is full") }
    }

    /// Sends a report without the outbox.
    private func send(_ report: SiteReport) {
        guard broker.isConnected else { return }
        lastToken -= 1
        publish(sealed(report), as: MessageToken(rawValue: lastToken))
    }

    /// The message of a report, encrypted with the key of the site, if there is one.
    private func sealed(_ report: SiteReport) -> Publication {
        var message = report.message(to: identity.addresses)
        message.payload = door.seal.sealed(message.payload, for: message.topic)
        return message
    }
}

extension HistoryEntry {
    /// A visit as a transition of the tag; the region is the room.
    fileprivate init(_ visit: RoomVisit, tracker: String, happened: MonotonicInstant) {
        self.init(
            tracker: tracker, rid: visit.room.id, name: visit.room.name,
            event: visit.event == .begins ? .enter : .leave, beacon: nil, timestamp: visit.timestamp, stamp: .exact,
            happened: happened)
    }
}
