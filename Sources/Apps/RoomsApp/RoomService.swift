import Base
import Configuration
import JSON
import Messaging
import OwnTracks
import Regions
package import RoomMessages
import Rooms
package import Runtime
package import Shell
import SiteProtocol
import Storage
package import System

/// The rooms service of one site: it receives the readings of gateways and publishes the rooms of tags.
///
/// `RoomSite` decides; this class executes. Each decision is one transaction of the store, and the store hands its
/// messages to the broker. The class is used by one thread.
package final class RoomService {
    let host: any ServiceHost
    let links: Links
    let log: Log
    private(set) var settings: Settings
    let identity: RoomServiceIdentity
    package private(set) var site: RoomSite
    package private(set) var election: ActiveService
    /// Tags as regions, from the configuration, `setWaypoints` and the command line.
    private(set) var tags = RegionSet()
    private var timers: Timers?
    private var upkeep: SiteUpkeep
    private(set) var door: SiteDoor
    var conversation = Conversation()

    /// State of the exchange with the broker.
    struct Conversation {
        /// Events from the broker that are not handled yet.
        var events: ArraySlice<BrokerEvent> = []
        /// The last token of a message that does not go through the outbox. Such tokens are negative.
        var lastToken: Int64 = 0
        /// Whether this service knows tags, or once did.
        var hadTags = false
        /// How many tags the retained list of the site has.
        var listedTags = 0
        /// When learned data was last deleted.
        var forgotten: MonotonicInstant?
        var commands = SiteCommands()
    }

    /// The connections of the service, and the monitor that reports their state to the page.
    struct Links {
        let store: any StoreLink
        let broker: any BrokerLink
        /// nil: the service has no page.
        let status: (any StatusLink)?
        let monitor: SiteMonitor
    }

    var store: any StoreLink { links.store }
    private var broker: any BrokerLink { links.broker }

    /// The timers exist between start and stop.
    private struct Timers {
        let deadline: (any ServiceTimer)?
        /// Stores the learned data.
        let keeping: (any ServiceTimer)?
        /// Continues with the remaining events of the broker.
        let brokerTurn: (any ServiceTimer)?
        /// Corrects the retained messages of the site.
        let upkeep: (any ServiceTimer)?
        /// Deletes old visits.
        let history: (any ServiceTimer)?
    }

    /// Time between two writes of the learned data.
    private static let keepingPeriod: Duration = .seconds(900)
    /// Shortest time between two writes after deletions of learned data.
    private static let forgettingPeriod: Duration = .seconds(5)
    private static let pruningPeriod: Duration = .seconds(86_400)
    /// After this time a turn of the loop leaves the remaining events of the broker to the next turn. Ten thousand
    /// messages may be waiting, and timers and signals are served between turns.
    private static let longestTurn: Duration = .milliseconds(20)
    /// Largest number of unacknowledged messages at the broker.
    private static let window = 20
    private static let learnedKey = "rooms.learned"
    private static let createdKey = "rooms.created"
    private static let tagKeyPrefix = "rooms.tag."

    /// - Throws: The first error of `rooms` in the configuration.
    package init(
        settings: Settings, store: any StoreLink, broker: any BrokerLink, status: (any StatusLink)? = nil,
        host: any ServiceHost, log: Log
    ) throws(Failure) {
        (self.settings, self.host, self.log) = (settings, host, log)
        links = Links(store: store, broker: broker, status: status, monitor: SiteMonitor(at: host.now))
        identity = try RoomServiceIdentity(settings.configuration)
        site = RoomSite(try Self.roomSettings(settings, identity))
        let instance = settings.configuration.rooms?.instance ?? TopicIdentifier.identifier(of: Settings.hostName)
        election = ActiveService(instance: instance)
        upkeep = SiteUpkeep(identity, settings.configuration, instance: instance)
        door = SiteDoor(settings.configuration)
    }

    private static func roomSettings(
        _ settings: Settings, _ identity: RoomServiceIdentity
    ) throws(Failure) -> RoomSettings {
        do throws(FeedError) {
            var rooms = try RoomSettings(configuration: settings.json)
            rooms.site = identity.site
            rooms.user = identity.user
            rooms.ownsTags = true
            return rooms
        } catch {
            throw Failure(.configuration, "\(settings.path ?? "the configuration") cannot be used:\n  \(error)")
        }
    }

    /// Opens the page and the store. The service starts work when the store is open.
    package func start() throws {
        try openPage()
        timers = Timers(
            deadline: host.timer { [unowned self] _ in tick() },
            keeping: host.timer(tolerance: .seconds(5)) { [unowned self] _ in
                keepLearned()
                timers?.keeping?.arm(after: Self.keepingPeriod)
            },
            brokerTurn: host.timer { [unowned self] _ in handleBrokerEvents() },
            upkeep: host.timer(tolerance: .seconds(1)) { [unowned self] _ in
                commit(upkeep.update(site, unreadable: door.unreadable, at: host.now))
                timers?.upkeep?.arm(after: SiteUpkeep.period)
            },
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
        keepLearned()
        publishCard(isActive: false, counter: 0)
        broker.close(within: broker.isConnected ? .seconds(2) : .zero)
        handleBrokerEvents()
        if !store.close(within: .seconds(10)) { log.error("the disk is too slow; data that was not written is lost") }
        host.exit(.ok)
    }

    /// Reads the tags of the configuration file again.
    package func reload() {
        host.report(.reloading)
        defer { host.report(.reloaded) }
        store.submit(.checkEdits)
        guard let path = settings.path else { return log.notice("there is no configuration file to read again") }
        do throws(Failure) {
            let new = try Settings(readingFrom: path, stateDirectory: settings.stateDirectory)
            _ = try Self.roomSettings(new, identity)
            settings = new
            pruneHistory()
            applyConfiguredTags()
            log.notice("read \(path) again; settings of the broker, the site, the page and gateways need a restart")
        } catch {
            log.error("\(error.message); the old settings stay in force")
        }
    }

    // MARK: - Decisions

    private func tick() {
        let now = host.now
        perform(site.tick(at: now, epoch: epoch))
        elect(election.tick(at: now))
    }

    /// Stores decisions and their messages in one transaction, and sets the timer for the next deadline.
    private func perform(_ outcome: RoomSite.Outcome) {
        defer { armDeadline() }
        for finding in outcome.findings { log.once("\(finding)", .warning, finding.text) }
        if let problem = outcome.problem { log.once("feed", .warning, "a message is not taken: \(problem)") }
        commit(outcome.messages, history(outcome.visits) + (outcome.isRoomNew ? [creation] : []))
    }

    private func commit(_ messages: [RoomMessage], _ more: [StoreChange] = []) {
        var changes = more
        upkeep.committed(messages)
        for message in messages {
            changes.append(
                .message(
                    Storage.OutgoingMessage(
                        tracker: identity.topics.base, topic: message.topic,
                        payload: door.seal.sealed(message.payload, for: message.topic), qos: message.qos,
                        retain: message.isRetained, kind: message.kind, happened: host.now, stamp: .exact)))
            guard case .tag(_, let tag) = RoomTopic(message.topic) else { continue }
            changes.append(
                .value(key: Self.tagKeyPrefix + tag, message.payload.isEmpty ? nil : message.payload))
            if let text = message.summary { log.notice(text) }
        }
        if !changes.isEmpty { store.submit(.commit(changes)) }
        if !messages.isEmpty { links.status?.changed() }
    }

    /// The changes that add these visits to the history.
    private func history(_ visits: [RoomVisit]) -> [StoreChange] {
        guard settings.configuration.roomHistoryDays != 0 else { return [] }
        return visits.map { .history(HistoryEntry($0, happened: host.now)) }
    }

    /// Deletes visits that are older than the configured limit, once the time of day is known.
    private func pruneHistory() {
        let clock = host.wallClock
        guard clock.isKnown, let begin = Configuration.historyBegin(settings.configuration.roomHistoryDays, at: epoch)
        else { return }
        store.submit(.pruneHistory(before: begin))
    }

    private func armDeadline() {
        guard let next = [site.nextDeadline, election.nextDeadline].compactMap(\.self).min() else { return }
        timers?.deadline?.arm(at: next)
    }

    var epoch: Int64 { host.wallClock.epochSeconds(at: host.now) }

    private var creation: StoreChange { .value(key: Self.createdKey, site.createdJSON.bytes) }

    private func keepLearned() {
        guard broker.settings != nil else { return }
        let source = site.engine.learnedSource
        commit([], [.madeValue(key: Self.learnedKey) { source.site.json.bytes }])
    }

    // MARK: - The store

    package func handleStoreEvents() {
        for event in store.drainEvents() {
            if let code = event.write(to: log) { host.exit(code) }
            links.monitor.record(event)
            switch event {
            case .opened(let snapshot): begin(with: snapshot)
            case .deliver(let rows): deliver(rows)
            case .regionEdits(let edits): apply(edits)
            case .stateLost: keepAll()
            case .kept, .notice, .unavailable, .troubled, .recovered, .failed, .stopped: break
            }
        }
    }

    /// Restores the stored state and connects.
    private func begin(with snapshot: StoreSnapshot) {
        tags = RegionSet(snapshot.regions[ExactString(identity.topics.base)] ?? [])
        let configured = (try? RoomSettings.tagChanges(settings.json["rooms"]?["tags"] ?? .array([]))) ?? []
        tags.apply(configured)
        links.monitor.configuredTags = Self.ids(of: configured)
        restoreAppliedCommands(from: snapshot)
        var reported: [String: [UInt8]] = [:]
        for (key, value) in snapshot.values where key.text.hasPrefix(Self.tagKeyPrefix) {
            reported[String(key.text.dropFirst(Self.tagKeyPrefix.count))] = value
        }
        conversation.hadTags = !reported.isEmpty || !tags.regions.isEmpty
        let created = snapshot.values[ExactString(Self.createdKey)].flatMap { try? JSONValue(parsing: $0) } ?? .null
        site.start(
            learned: learned(in: snapshot), reported: reported, created: RoomSite.created(in: created),
            tags: identities, at: host.now)
        // Standby until it is known whether another service is active.
        _ = site.setActive(false, at: host.now, epoch: epoch)
        apply(snapshot.edits)
        connect()
        timers?.keeping?.arm(after: Self.keepingPeriod)
        timers?.history?.arm(after: Self.keepingPeriod)
        let text = "\(site.tags.count) tags, \(snapshot.outboxCount) messages waiting"
        log.notice("ibeacon-gateway \(Program.version) decides about site '\(identity.site)': \(text)")
        host.report(.ready(status: text))
    }

    private func learned(in snapshot: StoreSnapshot) -> LearnedSite? {
        guard let bytes = snapshot.values[ExactString(Self.learnedKey)] else { return nil }
        do {
            var limits = JSONLimits()
            limits.bytes = 64 << 20
            limits.values = 10_000_000
            return try LearnedSite(try JSONValue(parsing: bytes, limits: limits))
        } catch {
            log.error("the learned data cannot be read; learning starts again: \(error)")
            return nil
        }
    }

    /// Writes the whole state again, after the database was removed or damaged.
    private func keepAll() {
        keepTags([])
        keepLearned()
        let states = site.reported.map { StoreChange.value(key: Self.tagKeyPrefix + $0.id, $0.payload) }
        store.submit(.commit(states + [creation, appliedCommands]))
    }

    // MARK: - Tags

    private var identities: [TagIdentity] {
        tags.regions.compactMap { region in
            guard let tag = TagIdentity(region) else {
                log.once("tag \(region.rid)", .warning, "'\(region.displayName)' names no beacon, and is no tag")
                return nil
            }
            return tag
        }
    }

    private func applyConfiguredTags() {
        guard let changes = try? RoomSettings.tagChanges(settings.json["rooms"]?["tags"] ?? .array([])) else { return }
        links.monitor.configuredTags = Self.ids(of: changes)
        change(tags: changes)
    }

    private static func ids(of changes: [RegionChange]) -> Set<String> {
        Set(changes.compactMap { if case .set(let region, _) = $0 { TagIdentity(region)?.id } else { nil } })
    }

    private func apply(_ edits: [RegionEdit]) {
        guard let last = edits.last?.id else { return }
        let own = edits.filter { $0.tracker.hasSameBytes(as: identity.topics.base) }
        let erased = edits.filter(\.erasesHistory).flatMap { edit -> [StoreChange] in
            [.eraseHistory(tracker: edit.tracker), .editsTaken(tracker: edit.tracker, upTo: edit.id)]
        }
        change(tags: own.map(\.change), [.editsTaken(tracker: identity.topics.base, upTo: last)], then: erased)
    }

    /// - Parameters:
    ///   - more: Further changes for the same transaction.
    ///   - last: Store changes after all consequences of `changes`.
    func change(tags changes: [RegionChange], _ more: [StoreChange] = [], then last: [StoreChange] = []) {
        let difference = tags.apply(changes)
        guard !difference.isEmpty || !more.isEmpty else { return }
        let outcome = site.replaceTags(by: identities, at: host.now, epoch: epoch)
        judgeAbility()
        // The list is published once it is on the disk, so that a power cut cannot remove a tag that gateways know.
        let list = difference.isEmpty ? nil : site.tagList
        upkeep.committed(outcome.messages)
        keepTags(
            more + history(outcome.visits) + last,
            publishing: upkeep.update(site, unreadable: door.unreadable, at: host.now) + outcome.messages
                + [list].compactMap(\.self))
        log.notice(
            "tags: \(difference.inserted.count) new, \(difference.updated.count) changed, "
                + "\(difference.removed.count) removed")
        links.status?.changed()
        armDeadline()
    }

    private func keepTags(_ more: [StoreChange], publishing messages: [RoomMessage] = []) {
        commit(site.isActive ? messages : [], [.regions(tracker: identity.topics.base, tags.regions)] + more)
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
                identity.brokerSettings(settings.configuration, instance: election.instance, door.seal),
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
            "\(root)/learn", "\(root)/nearby/+", "ibeacon-gateway/+/availability",
        ]
        // ESPresense does not encrypt, so any client could publish readings past the site's key.
        if door.seal.allowsPlain { filters.formUnion(["espresense/devices/+/+", "espresense/rooms/+/status"]) }
        if settings.configuration.obeysCommands { filters.insert(identity.topics.command) }
        return filters.union(upkeep.filters)
    }

    /// The next event. New events are taken from the broker's bounded mailbox only when all earlier ones are handled.
    private func nextBrokerEvent() -> BrokerEvent? {
        if conversation.events.isEmpty { conversation.events = broker.drainEvents()[...] }
        return conversation.events.first
    }

    package func handleBrokerEvents() {
        let end = host.now.advanced(by: Self.longestTurn)
        while let event = nextBrokerEvent() {
            let now = host.now
            guard now <= end || timers == nil else {
                timers?.brokerTurn?.arm(at: now)
                break
            }
            conversation.events.removeFirst()
            guard let event = opened(event, at: now) else { continue }
            if links.monitor.record(event, at: now) { links.status?.changed() }
            switch event {
            case .connected:
                log.notice("connected to the broker")
                timers?.upkeep?.arm(at: upkeep.connected(at: now))
                if election.role != .active { store.submit(.window(0)) }
                perform(site.setConnected(true, at: now, epoch: epoch))
                elect(election.connected(at: now))
                if election.role == .active {
                    store.submit(.window(Self.window))
                    publishTagList()
                }
            case .disconnected(let failure, let retryIn):
                store.submit(.window(0))
                perform(site.setConnected(false, at: now, epoch: epoch))
                election.disconnected(at: now)
                upkeep.disconnected()
                log.once("broker", .warning, "no broker: \(failure); next try in \(decimal(retryIn)) s")
            case .moved(let host):
                log.notice("the next try is at \(settings.configuration.broker.place(of: host))")
            case .message(let message): handle(message, at: now)
            case .acknowledged(let token): if token.rawValue > 0 { store.submit(.acknowledged(token.rawValue)) }
            case .refused(let token, let refusal):
                log.once("refused", .warning, "a message is set aside: \(refusal)")
                if token.rawValue > 0 { store.submit(.refused(token.rawValue, reason: "\(refusal)")) }
            case .untaken(let message): log.once("untaken", .error, "a message was too large: \(message)")
            case .subscriptionRefused(let filter):
                log.once("subscription", .warning, "the broker refuses to send us \(filter)")
            case .commands, .subscribed: break
            }
        }
        armDeadline()
    }

    /// Decrypts a message of the site.
    ///
    /// - Returns: nil if the message is refused.
    private func opened(_ event: BrokerEvent, at now: MonotonicInstant) -> BrokerEvent? {
        guard case .message(var message) = event else { return event }
        switch door.open(message, at: now) {
        case .opened(let payload, let isNews):
            if isNews { links.status?.changed() }
            message.payload = payload
            return .message(message)
        case .refused(let topic, let reason, let isNews):
            log.once("sealed", .warning, "a message on \(message.topic) is not taken: \(reason)")
            if isNews { links.status?.changed() }
            upkeep.refused(message.topic, isActive: site.isActive, at: now)
            switch topic {
            case .tags where election.role == .active && door.mayAnswerList(at: now): publishTagList()
            case .service(_, let name) where name != election.instance:
                log.once(
                    "service key", .error,
                    "the service '\(name)' has another key of the site, so neither knows of the other: \(reason)")
            default: break
            }
            return nil
        }
    }

    private func handle(_ message: ReceivedMessage, at now: MonotonicInstant) {
        if message.topic.hasSameBytes(as: identity.topics.command) { return obey(message) }
        if upkeep.received(message, isActive: site.isActive, at: now) {
            // Home Assistant waits for an answer. Everything else waits for the upkeep timer.
            if upkeep.isBorn { commit(upkeep.update(site, unreadable: door.unreadable, at: now)) }
            return
        }
        switch RoomTopic(message.topic) {
        case .nearby: break
        case .service(_, let instance):
            guard !message.payload.isEmpty, let card = ServiceCard(message.payload) else { return }
            elect(election.heard(instance, isActive: card.isActive, counter: card.counter, at: now))
        case .tags:
            // A list can have megabytes, and is of no interest to a service that knows tags.
            if !conversation.hadTags {
                conversation.listedTags = (try? FeedDecoder.tags(message.payload))?.count ?? 0
                judgeAbility()
            }
            // The broker lost the list, or another program changed it: the gateways need the right one.
            guard election.role == .active, message.payload != site.tagList?.payload else { return }
            publishTagList()
        case let topic:
            var outcome = site.handle(
                message.topic, message.payload, isRetained: message.retained, at: now, epoch: epoch)
            // New and removed gateways, and deletions by a user, are published at once.
            if case .card = topic { outcome.messages += upkeep.update(site, unreadable: door.unreadable, at: now) }
            if outcome.hasForgotten {
                outcome.messages += upkeep.update(site, unreadable: door.unreadable, at: now)
                keepForgotten(at: now)
            }
            perform(outcome)
        }
    }

    /// Stores a deletion by a user at once. All learned data is written for it, so the rate is limited: a client with
    /// the right to write cards must not cause endless writes.
    private func keepForgotten(at now: MonotonicInstant) {
        let last = conversation.forgotten
        guard last.map({ $0.duration(to: now) >= Self.forgettingPeriod }) ?? true else {
            timers?.keeping?.arm(after: Self.forgettingPeriod)
            return
        }
        conversation.forgotten = now
        keepLearned()
    }

    /// Publishes rows of the outbox, which are on the disk. The decisions of a service that is no longer active are
    /// obsolete and are dropped.
    private func deliver(_ rows: [OutboxRow]) {
        guard election.role == .active else {
            for row in rows { store.submit(.acknowledged(row.id)) }
            return
        }
        for row in rows {
            publish(
                Messaging.OutgoingMessage(
                    token: MessageToken(rawValue: row.id), topic: row.message.topic, payload: row.message.payload,
                    qos: QoS(rawValue: row.message.qos) ?? .atLeastOnce, retain: row.message.retain))
        }
    }

    private func publish(_ message: Messaging.OutgoingMessage) {
        if !broker.publish(message) { log.once("queue", .error, "the broker's queue is full") }
    }

    // MARK: - One active service

    private func elect(_ effects: [ActiveService.Effect]) {
        for effect in effects {
            switch effect {
            case .publish(let isActive, let counter):
                publishCard(isActive: isActive, counter: counter)
                guard !isActive else { continue }
                // A service that was active before a long outage becomes standby here.
                _ = site.setActive(false, at: host.now, epoch: epoch)
                // A standby takes the waiting messages from the store and drops them.
                store.submit(.window(Self.window))
            case .began:
                log.notice("this service is the active one of site '\(identity.site)'")
                perform(site.setActive(true, at: host.now, epoch: epoch))
                commit(upkeep.update(site, unreadable: door.unreadable, at: host.now))
                store.submit(.redeliver)
                store.submit(.window(Self.window))
                publishTagList()
            case .stoodDown(let other):
                log.error("the service '\(other)' is active too; this one is the standby from now on")
                _ = site.setActive(false, at: host.now, epoch: epoch)
            }
        }
    }

    /// A standby that never had tags must not take over: it would tell the gateways that there are none, and delete the
    /// states of all tags. Tags are kept by each service for itself.
    private func judgeAbility() {
        let wasAble = election.isAble
        if !tags.regions.isEmpty { conversation.hadTags = true }
        election.isAble = conversation.hadTags || conversation.listedTags == 0
        guard wasAble, !election.isAble, election.role != .active else { return }
        log.warning(
            "the site has \(conversation.listedTags) tags, and this service has none: it cannot take over. Import them: "
                + "'rooms tags export' on the machine that has them, 'rooms tags import' here")
    }

    private func publishCard(isActive: Bool, counter: UInt64) {
        publishAside(
            RoomTopic.service(site: identity.site, instance: election.instance).text,
            ServiceCard(isActive: isActive, counter: counter, version: Program.version).payload)
    }

    private func publishTagList() {
        guard let list = site.tagList else { return }
        publishAside(list.topic, list.payload)
    }

    /// Publishes a message without the outbox: a retained message that is made again for each connection, or a message
    /// that is useless later.
    func publishAside(_ topic: String, _ payload: [UInt8], isRetained: Bool = true) {
        guard broker.isConnected else { return }
        conversation.lastToken -= 1
        publish(
            Messaging.OutgoingMessage(
                token: MessageToken(rawValue: conversation.lastToken), topic: topic,
                payload: door.seal.sealed(payload, for: topic),
                qos: .atLeastOnce, retain: isRetained))
    }
}
