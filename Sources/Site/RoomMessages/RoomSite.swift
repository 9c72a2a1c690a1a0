package import Base
import Beacon
package import JSON
import OwnTracks
import Regions
package import Rooms
package import SiteProtocol

/// The rooms service of one site without broker and clock: messages in, messages out.
package struct RoomSite: Sendable {
    package private(set) var engine: RoomEngine
    package private(set) var site: String?
    private var settings: RoomSettings
    /// Whether decisions are published. A standby records the tag states that another service publishes.
    package private(set) var isActive = true
    private var identities: [TagIdentity] = []
    private var states: [PublishedTag] = []
    /// Cards and availability of the gateways.
    private var roll = GatewayRoll()
    /// Tags in each room by the room's id, in order of arrival.
    private var occupants: [String: [Int]] = [:]
    /// Rooms that have an ibeacon-gateway. Messages of an ESPresense node for such a room are ignored.
    private var feedingRooms: Set<String> = []
    /// Rooms by gateway, as the configuration sets them.
    private let fixedRooms: [String: String]
    package private(set) var counters = Counters()
    /// When a tag first entered each room, by the room's id: as regions, rooms were created then.
    package private(set) var created: [String: Int64] = [:]

    package struct Counters: Hashable, Sendable {
        /// Accepted messages.
        package var taken: UInt64 = 0
        /// Messages on unknown topics, or of other sites.
        package var foreign: UInt64 = 0
        /// Retained messages on topics where only live messages count.
        package var retained: UInt64 = 0
        package var malformed: UInt64 = 0
    }

    /// Known facts about gateways, by name. It holds at most as many gateways as the engine accepts.
    private struct GatewayRoll: Sendable {
        /// Gateways with a card. ESPresense nodes have none.
        private(set) var cards: Set<String> = []
        private(set) var offline: Set<String> = []

        mutating func record(card gateway: String, _ isThere: Bool) { Self.record(gateway, isThere, in: &cards) }
        mutating func record(offline gateway: String, _ isThere: Bool) { Self.record(gateway, isThere, in: &offline) }

        private static func record(_ gateway: String, _ isThere: Bool, in set: inout Set<String>) {
            if !isThere { set.remove(gateway) } else if set.count < 4 * RoomEngine.mostGateways { set.insert(gateway) }
        }
    }

    /// The results of one input.
    package struct Outcome: Sendable {
        package var messages: [RoomMessage] = []
        /// Visits for the history.
        package var visits: [RoomVisit] = []
        package var findings: [RoomEngine.Finding] = []
        /// Whether a room was entered for the first time, so that `created` is to be kept.
        package var isRoomNew = false
        /// Whether learned data was deleted.
        package var hasForgotten = false
        /// Why the message was rejected.
        package var problem: FeedError?
    }

    package init(_ settings: RoomSettings, tuning: RoomTuning = RoomTuning()) {
        self.settings = settings
        site = settings.site
        engine = RoomEngine(tuning: tuning)
        fixedRooms = Dictionary(settings.gateways.map { ($0.gateway, $0.room) }) { first, _ in first }
    }

    /// Starts from the configuration and the stored state of an earlier run. This must be the first call.
    ///
    /// - Parameters:
    ///   - reported: The payloads of the tags' states, by the tag's id.
    ///   - created: As `created` was.
    ///   - tags: Replaces the tags of the configuration.
    package mutating func start(
        learned: LearnedSite? = nil, reported: [String: [UInt8]] = [:], created: [String: Int64] = [:],
        tags: [TagIdentity]? = nil, at now: MonotonicInstant
    ) {
        self.created = created
        if let tags { settings.tags = tags }
        if let learned { engine.restore(learned) }
        for (gateway, room) in settings.gateways {
            _ = engine.handle(.card(gateway: gateway, room: room), at: now)
        }
        setTags(settings.tags, at: now)
        for (place, tag) in identities.enumerated() {
            if let state = reported[tag.id].flatMap(PublishedTag.init) { adopt(state, ofTag: place) }
        }
        engine.restore(reportedTags, at: now)
    }

    private var reportedTags: [ReportedTag] {
        zip(identities, states).map { ReportedTag(id: $0.id, isHome: $1.isHome, room: $1.room) }
    }

    /// Replaces the tags of the configuration.
    ///
    /// - Returns: The messages that clear the states of removed tags, and the ends of their visits.
    package mutating func replaceTags(by tags: [TagIdentity], at now: MonotonicInstant, epoch: Int64) -> Outcome {
        var outcome = Outcome()
        leaveExchanged(by: tags, epoch, &outcome)
        let old = Array(zip(identities, states))
        settings.tags = tags
        setTags(tags, at: now)
        guard let site else { return outcome }
        let left = Set(identities.map(\.id))
        for (tag, state) in old where !left.contains(tag.id) {
            outcome.messages.append(
                RoomMessage(topic: RoomTopic.tag(site: site, tag: tag.id).text, payload: [], qos: 1, isRetained: true))
            if let room = state.room, isActive {
                outcome.visits.append(RoomVisit(.ends, tag, room, topic(of: tag, site), epoch))
            }
        }
        return outcome
    }

    /// Publishes tags whose beacon changes as away: the room of the new beacon is not known.
    private mutating func leaveExchanged(by tags: [TagIdentity], _ epoch: Int64, _ outcome: inout Outcome) {
        let patterns = Dictionary(tags.map { ($0.id, $0.pattern) }) { first, _ in first }
        for place in identities.indices where states[place].isHome {
            guard let new = patterns[identities[place].id], new != identities[place].pattern else { continue }
            let decision = RoomEngine.Decision(
                tag: place, isHome: false, from: states[place].room, to: nil, confidence: 1)
            publish(decision, epoch: epoch, &outcome)
        }
    }

    /// Turns the publishing of decisions on or off. When it is turned on, decisions that differ from the last states
    /// published by another service are published at once. What has not been decided here, because this service has not been
    /// there for long, is as the other service left it.
    package mutating func setActive(_ isActive: Bool, at now: MonotonicInstant, epoch: Int64) -> Outcome {
        var outcome = Outcome()
        let begins = isActive && !self.isActive
        self.isActive = isActive
        guard begins else { return outcome }
        engine.adopt(reportedTags, at: now)
        for place in identities.indices {
            let decided = engine.decided(ofTag: place)
            guard decided.isHome != states[place].isHome || decided.room?.id != states[place].room?.id else { continue }
            publish(
                RoomEngine.Decision(
                    tag: place, isHome: decided.isHome, from: states[place].room, to: decided.room, confidence: 1),
                epoch: epoch, &outcome)
        }
        return outcome
    }

    /// The tags in force.
    package var tags: [TagIdentity] { identities }

    /// The published state of the tag at this position in `tags`, as JSON.
    package func published(ofTag place: Int) -> JSONValue {
        states[place].json(name: identities[place].name)
    }

    /// The published state of each tag.
    package var reported: [(id: String, payload: [UInt8])] {
        identities.indices.map { place in
            (identities[place].id, states[place].json(name: identities[place].name).bytes)
        }
    }

    /// The messages about tags that the broker should retain. A payload is nil if none was published yet.
    package var retainedTags: [(topic: String, payload: [UInt8]?)] {
        guard let site else { return [] }
        return zip(identities, states).map { tag, state in
            (RoomTopic.tag(site: site, tag: tag.id).text, state.since == 0 ? nil : state.json(name: tag.name).bytes)
        }
    }

    /// The messages about rooms that the broker should retain.
    package var retainedRooms: [(topic: String, payload: [UInt8]?)] {
        guard let site else { return [] }
        return engine.knownRooms.map { room in
            let message = state(of: room, site)
            return (message.topic, message.payload)
        }
    }

    /// Whether the gateway has published a card; an ESPresense node has none.
    package func hasCard(_ gateway: String) -> Bool { roll.cards.contains(gateway) }

    /// The list of tags for the gateways. It contains only tags with an exact beacon (UUID, major and minor).
    package var tagList: RoomMessage? {
        guard let site else { return nil }
        let beacons = identities.compactMap { tag -> BeaconID? in
            guard let major = tag.pattern.major, let minor = tag.pattern.minor else { return nil }
            return BeaconID(uuid: tag.pattern.uuid, major: major, minor: minor)
        }
        return RoomMessage(
            topic: RoomTopic.tags(site: site).text, payload: TagList.payload(beacons), qos: 1, isRetained: true)
    }

    /// When `tick` is due.
    package var nextDeadline: MonotonicInstant? { engine.nextDeadline }

    package mutating func tick(at now: MonotonicInstant, epoch: Int64) -> Outcome {
        var outcome = Outcome()
        pass(.tick, at: now, epoch: epoch, &outcome)
        return outcome
    }

    /// The connection to the broker was lost, or is there again. Without it no tag goes away: nothing that a gateway says
    /// arrives.
    package mutating func setConnected(_ isConnected: Bool, at now: MonotonicInstant, epoch: Int64) -> Outcome {
        var outcome = Outcome()
        pass(.connected(isConnected), at: now, epoch: epoch, &outcome)
        return outcome
    }

    /// Ends the present recording. The next message was recorded at another time.
    package mutating func breakOff(at now: MonotonicInstant, epoch: Int64) -> Outcome {
        var outcome = Outcome()
        pass(.discontinuity, at: now, epoch: epoch, &outcome)
        return outcome
    }

    /// Handles a message.
    ///
    /// - Parameters:
    ///   - isRetained: Whether the broker had retained the message, so that it may be old.
    ///   - epoch: Seconds since 1970 at `now`, for the published messages.
    package mutating func handle(
        _ topic: String, _ payload: some Collection<UInt8>, isRetained: Bool, at now: MonotonicInstant, epoch: Int64
    ) -> Outcome {
        var outcome = Outcome()
        guard let topic = RoomTopic(topic), belongs(topic) else {
            counters.foreign += 1
            return outcome
        }
        do throws(FeedError) {
            try handle(topic, payload, isRetained: isRetained, at: now, epoch: epoch, &outcome)
        } catch {
            counters.malformed += 1
            outcome.problem = error
        }
        return outcome
    }

    /// Without a configured site, the site of the first message becomes the site of this service.
    private mutating func belongs(_ topic: RoomTopic) -> Bool {
        guard let met = topic.site else { return true }
        guard TopicIdentifier.isIdentifier(met) else { return false }
        if site == nil { site = met }
        return met == site
    }

    private mutating func handle(
        _ topic: RoomTopic, _ payload: some Collection<UInt8>, isRetained: Bool, at now: MonotonicInstant,
        epoch: Int64, _ outcome: inout Outcome
    ) throws(FeedError) {
        switch topic {
        case .service, .room, .health, .nearbyRequest, .nearby: return
        case .tag where isActive: return
        case .heard, .learn, .espresense:
            guard !isRetained else {
                counters.retained += 1
                return
            }
        default: break
        }
        counters.taken += 1
        switch topic {
        case .heard(_, let gateway):
            let second = try FeedDecoder.heard(payload)
            feedingRooms.insert(gateway)
            if feedingRooms.count > RoomEngine.mostGateways { feedingRooms.removeAll() }
            pass(.heard(gateway: gateway, second), at: now, epoch: epoch, &outcome)
        case .espresense(let beacon, let node):
            let second = try FeedDecoder.espresense(beacon, payload)
            guard !isFedByOurs(node) else { return }
            if !engine.hasRoom(gateway: node) {
                pass(.card(gateway: node, room: fixedRooms[node] ?? node), at: now, epoch: epoch, &outcome)
            }
            pass(.heard(gateway: node, second), at: now, epoch: epoch, &outcome)
        case .card(_, let gateway): try handleCard(of: gateway, payload, at: now, epoch: epoch, &outcome)
        case .tags:
            // A service has its own tags; a replay takes them from this message.
            guard !settings.ownsTags else { return }
            adoptTags(try FeedDecoder.tags(payload), at: now)
        case .tag(_, let id):
            guard let place = identities.firstIndex(where: { $0.id == id }), let state = PublishedTag(payload) else {
                return
            }
            // This service may have been killed before its newer state left the outbox. What another service decides
            // arrives while this one is there, or is newer.
            guard !isRetained || state.since > states[place].since else { return }
            adopt(state, ofTag: place)
        case .service, .room, .health, .nearbyRequest, .nearby: break
        case .learn:
            switch try FeedDecoder.learn(payload) {
            case .train(let room, let tag, let duration):
                pass(.learn(room: room, tag: tagID(named: tag), duration), at: now, epoch: epoch, &outcome)
            case .forget(let room):
                outcome.hasForgotten = true
                pass(.forgetRoom(room), at: now, epoch: epoch, &outcome)
            }
        case .availability(let gateway), .espresenseStatus(let gateway):
            let text = String(decoding: payload.prefix(16), as: UTF8.self).filter { $0 != "\"" }
            roll.record(offline: gateway, text == "offline")
            pass(.available(gateway: gateway, text == "online"), at: now, epoch: epoch, &outcome)
        }
    }

    /// Whether an ibeacon-gateway feeds readings for the room of an ESPresense node: both are the same radio, or the
    /// gateway itself publishes the message in the node's name.
    private func isFedByOurs(_ node: String) -> Bool {
        feedingRooms.contains(node) || feedingRooms.contains { engine.roomID(ofGateway: $0) == RoomName.id(of: node) }
    }

    private mutating func handleCard(
        of gateway: String, _ payload: some Collection<UInt8>, at now: MonotonicInstant, epoch: Int64,
        _ outcome: inout Outcome
    ) throws(FeedError) {
        guard !payload.isEmpty else {
            roll.record(card: gateway, false)
            // The configuration sets the room of this gateway.
            guard fixedRooms[gateway] == nil else { return }
            outcome.hasForgotten = true
            return pass(.forget(gateway: gateway), at: now, epoch: epoch, &outcome)
        }
        let room = try FeedDecoder.room(onCard: payload)
        roll.record(card: gateway, true)
        if let room, fixedRooms[gateway] == nil {
            pass(.card(gateway: gateway, room: room), at: now, epoch: epoch, &outcome)
        }
        // The broker may have delivered the availability before the card.
        if roll.offline.contains(gateway) {
            pass(.available(gateway: gateway, false), at: now, epoch: epoch, &outcome)
        }
    }

    // MARK: Tags

    private mutating func adoptTags(_ listed: [FeedDecoder.ListedTag], at now: MonotonicInstant) {
        var tags = settings.tags
        for tag in listed where !settings.tags.contains(where: { $0.pattern.matches(tag.beacon) }) {
            let text = "\(tag.beacon.uuid)-\(tag.beacon.major)-\(tag.beacon.minor)"
            let id = tag.id.flatMap { TopicIdentifier.isIdentifier($0) ? $0 : nil } ?? tag.name.map(RoomName.id) ?? text
            let pattern = BeaconPattern(uuid: tag.beacon.uuid, major: tag.beacon.major, minor: tag.beacon.minor)
            tags.append(TagIdentity(id: id, name: tag.name ?? tag.beacon.description, pattern: pattern))
        }
        setTags(tags, at: now)
    }

    private mutating func setTags(_ tags: [TagIdentity], at now: MonotonicInstant) {
        guard tags != identities else { return }
        let old = Dictionary(zip(identities.map(\.id), states)) { first, _ in first }
        _ = engine.handle(
            .tags(tags.map { TagDescription(id: $0.id, name: $0.name, pattern: $0.pattern) }), at: now)
        // The engine omits tags whose id is already taken.
        let kept = Set(engine.tags.map(\.id))
        var seen: Set<String> = []
        identities = tags.filter { kept.contains($0.id) && seen.insert($0.id).inserted }
        states = identities.map { old[$0.id] ?? PublishedTag() }
        occupants = [:]
        for (place, state) in states.enumerated() {
            if let room = state.room { occupants[room.id, default: []].append(place) }
        }
    }

    /// A tag may be named by its name, its id, or its beacon.
    private func tagID(named name: String) -> String {
        if let tag = identities.first(where: { $0.id == name || $0.name == name }) { return tag.id }
        let lowered = name.lowercased()
        if let tag = identities.first(where: { $0.name.lowercased() == lowered || $0.id.lowercased() == lowered }) {
            return tag.id
        }
        if let beacon = FeedDecoder.beaconID(name), let tag = identities.first(where: { $0.pattern.matches(beacon) }) {
            return tag.id
        }
        return name
    }

    // MARK: Decisions

    private mutating func pass(
        _ input: RoomEngine.Input, at now: MonotonicInstant, epoch: Int64, _ outcome: inout Outcome
    ) {
        for effect in engine.handle(input, at: now) {
            switch effect {
            case .decided(let decision): publish(decision, epoch: epoch, &outcome)
            case .found(let finding): outcome.findings.append(finding)
            }
        }
    }

    /// Takes over a state of a tag.
    private mutating func adopt(_ state: PublishedTag, ofTag place: Int) {
        if let old = states[place].room { occupants[old.id]?.removeAll { $0 == place } }
        if let new = state.room { occupants[new.id, default: []].append(place) }
        states[place] = state
    }

    /// Makes the messages of one decision, in this order: leave of the old room, enter of the new room, location, tag,
    /// old room, new room.
    private mutating func publish(
        _ decision: RoomEngine.Decision, epoch: Int64, _ outcome: inout Outcome
    ) {
        guard isActive, identities.indices.contains(decision.tag), let site else { return }
        let tag = identities[decision.tag]
        adopt(
            PublishedTag(room: decision.to, isHome: decision.isHome, since: epoch, confidence: decision.confidence),
            ofTag: decision.tag)
        let base = topic(of: tag, site)
        if let from = decision.from { outcome.visits.append(RoomVisit(.ends, tag, from, base, epoch)) }
        if let to = decision.to { outcome.visits.append(RoomVisit(.begins, tag, to, base, epoch)) }
        if let to = decision.to { remember(to, epoch, &outcome) }
        if let from = decision.from { outcome.messages.append(transition(.leave, from, tag, base, epoch)) }
        if let to = decision.to { outcome.messages.append(transition(.enter, to, tag, base, epoch)) }
        if decision.from != nil || decision.to != nil || !decision.isHome {
            outcome.messages.append(location(decision.to, tag, base, epoch))
        }
        outcome.messages.append(
            RoomMessage(
                topic: RoomTopic.tag(site: site, tag: tag.id).text,
                payload: states[decision.tag].json(name: tag.name).bytes, qos: 1,
                isRetained: true))
        for room in [decision.from, decision.to] {
            if let room { outcome.messages.append(state(of: room, site)) }
        }
    }

    private func topic(of tag: TagIdentity, _ site: String) -> String {
        "owntracks/\(settings.user ?? "rooms-\(site)")/\(tag.id)"
    }

    /// A room as a region. `wtst` of its transitions is the time at which a tag first entered it, and stays. The `rid` does
    /// not depend on it.
    private func region(_ room: RoomName) -> Region {
        Region(
            rid: derivedRID(name: room.id, timestamp: 0), description: RegionDescription(name: room.name, pattern: nil),
            timestamp: created[room.id] ?? 0)
    }

    private mutating func remember(_ room: RoomName, _ epoch: Int64, _ outcome: inout Outcome) {
        guard created[room.id] == nil else { return }
        if created.count >= RoomEngine.mostRooms {
            let known = Set(engine.knownRooms.map(\.id))
            created = created.filter { known.contains($0.key) }
        }
        created[room.id] = epoch
        outcome.isRoomNew = true
    }

    /// `created` as JSON, `{"kitchen":1700000000}`.
    package var createdJSON: JSONValue { .object(created.mapValues { .integer($0) }) }

    /// Reads `createdJSON`. What does not fit is left out.
    package static func created(in json: JSONValue) -> [String: Int64] {
        (json.object ?? [:]).compactMapValues(\.asInteger)
    }

    private func transition(
        _ event: Transition.Event, _ room: RoomName, _ tag: TagIdentity, _ base: String, _ epoch: Int64
    ) -> RoomMessage {
        let transition = Transition(
            event, of: region(room), trackerID: trackerID(of: tag), position: settings.position, timestamp: epoch,
            createdAt: epoch)
        return RoomMessage(topic: base + "/event", payload: transition.payload.bytes, qos: 1, isRetained: false)
    }

    private func location(_ room: RoomName?, _ tag: TagIdentity, _ base: String, _ epoch: Int64) -> RoomMessage {
        let location = Location(
            .beacon, trackerID: trackerID(of: tag), position: settings.position, timestamp: epoch, createdAt: epoch,
            inRegions: room.map { [region($0)] } ?? [])
        return RoomMessage(topic: base, payload: location.payload.bytes, qos: 1, isRetained: true)
    }

    private func trackerID(of tag: TagIdentity) -> String { tag.id.suffix(2).uppercased() }

    /// Largest number of tags that a room's message names.
    private static let mostNamed = 50

    private func state(of room: RoomName, _ site: String) -> RoomMessage {
        let inside = occupants[room.id] ?? []
        let payload = JSONValue.object([
            "name": .string(room.name),
            "count": .integer(Int64(inside.count)),
            "tags": .array(inside.prefix(Self.mostNamed).map { .string(identities[$0].name) }),
        ])
        return RoomMessage(
            topic: RoomTopic.room(site: site, room: room.id).text, payload: payload.bytes, qos: 1, isRetained: true)
    }
}
