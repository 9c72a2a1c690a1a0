package import Base
import Beacon
import JSON
import OwnTracks
import Regions
package import Rooms

/// The rooms service of one site without its broker and its clock: messages in, messages out.
package struct RoomSite: Sendable {
    package private(set) var engine: RoomEngine
    package private(set) var site: String?
    private let settings: RoomSettings
    private var identities: [TagIdentity] = []
    private var states: [TagState] = []
    /// Tags in each room by the room's id, in the order in which they came.
    private var occupants: [String: [Int]] = [:]
    /// Rooms that ESPresense's nodes may not speak for, because a gateway of ours does.
    private var feedingRooms: Set<String> = []
    /// Gateways whose room the configuration says.
    private let fixedRooms: [String: String]
    package private(set) var counters = Counters()

    package struct Counters: Hashable, Sendable {
        /// Messages that were taken.
        package var taken: UInt64 = 0
        /// Messages of topics that are not ours, or of other sites.
        package var foreign: UInt64 = 0
        /// Retained messages where only live ones count.
        package var retained: UInt64 = 0
        package var malformed: UInt64 = 0
    }

    private struct TagState: Sendable {
        var room: RoomName?
        var isHome = false
        /// Epoch seconds.
        var since: Int64 = 0
    }

    /// What came of a message.
    package struct Outcome: Sendable {
        package var messages: [RoomMessage] = []
        package var findings: [RoomEngine.Finding] = []
        /// Why the message was not taken.
        package var problem: FeedError?
    }

    package init(_ settings: RoomSettings, tuning: RoomTuning = RoomTuning()) {
        self.settings = settings
        site = settings.site
        engine = RoomEngine(tuning: tuning)
        fixedRooms = Dictionary(settings.gateways.map { ($0.gateway, $0.room) }) { first, _ in first }
    }

    /// Takes what the configuration says. Must come first.
    package mutating func start(at now: MonotonicInstant) {
        for (gateway, room) in settings.gateways {
            _ = engine.handle(.card(gateway: gateway, room: room), at: now)
        }
        setTags(settings.tags, at: now)
    }

    /// When `tick` has something to do.
    package var nextDeadline: MonotonicInstant? { engine.nextDeadline }

    package mutating func tick(at now: MonotonicInstant, epoch: Int64) -> Outcome {
        var outcome = Outcome()
        pass(.tick, at: now, epoch: epoch, &outcome)
        return outcome
    }

    /// What comes next was recorded at another time.
    package mutating func breakOff(at now: MonotonicInstant, epoch: Int64) -> Outcome {
        var outcome = Outcome()
        pass(.discontinuity, at: now, epoch: epoch, &outcome)
        return outcome
    }

    /// Takes a message.
    ///
    /// - Parameters:
    ///   - isRetained: Whether it was retained when it was received, and so may be old.
    ///   - epoch: Seconds since 1970 at `now`, for what is published.
    package mutating func take(
        _ topic: String, _ payload: some Collection<UInt8>, isRetained: Bool, at now: MonotonicInstant, epoch: Int64
    ) -> Outcome {
        var outcome = Outcome()
        guard let topic = RoomTopic(topic), belongs(topic) else {
            counters.foreign += 1
            return outcome
        }
        do throws(FeedError) {
            try take(topic, payload, isRetained: isRetained, at: now, epoch: epoch, &outcome)
        } catch {
            counters.malformed += 1
            outcome.problem = error
        }
        return outcome
    }

    /// The first site that is met is ours, unless the configuration says which.
    private mutating func belongs(_ topic: RoomTopic) -> Bool {
        guard let met = topic.site else { return true }
        guard RoomSettings.isTopicLevel(met) else { return false }
        if site == nil { site = met }
        return met == site
    }

    private mutating func take(
        _ topic: RoomTopic, _ payload: some Collection<UInt8>, isRetained: Bool, at now: MonotonicInstant,
        epoch: Int64, _ outcome: inout Outcome
    ) throws(FeedError) {
        switch topic {
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
        case .card(_, let gateway): try takeCard(of: gateway, payload, at: now, epoch: epoch, &outcome)
        case .tags:
            let listed = try FeedDecoder.tags(payload)
            takeTags(listed, at: now)
        case .learn:
            let request = try FeedDecoder.learn(payload)
            pass(
                .learn(room: request.room, tag: tagID(named: request.tag), request.duration), at: now, epoch: epoch,
                &outcome)
        case .availability(let gateway), .espresenseStatus(let gateway):
            let text = String(decoding: payload.prefix(16), as: UTF8.self).filter { $0 != "\"" }
            pass(.available(gateway: gateway, text == "online"), at: now, epoch: epoch, &outcome)
        }
    }

    /// Whether a gateway of ours feeds readings for the room of an ESPresense node: both are the same radio, or the
    /// node is the message that the gateway itself publishes.
    private func isFedByOurs(_ node: String) -> Bool {
        feedingRooms.contains(node) || feedingRooms.contains { engine.roomID(ofGateway: $0) == RoomName.id(of: node) }
    }

    private mutating func takeCard(
        of gateway: String, _ payload: some Collection<UInt8>, at now: MonotonicInstant, epoch: Int64,
        _ outcome: inout Outcome
    ) throws(FeedError) {
        guard !payload.isEmpty else {
            return pass(.forget(gateway: gateway), at: now, epoch: epoch, &outcome)
        }
        guard let room = try FeedDecoder.room(onCard: payload), fixedRooms[gateway] == nil else { return }
        pass(.card(gateway: gateway, room: room), at: now, epoch: epoch, &outcome)
    }

    // MARK: Tags

    private mutating func takeTags(_ listed: [FeedDecoder.ListedTag], at now: MonotonicInstant) {
        var tags = settings.tags
        for tag in listed where !settings.tags.contains(where: { $0.pattern.matches(tag.beacon) }) {
            let text = "\(tag.beacon.uuid)-\(tag.beacon.major)-\(tag.beacon.minor)"
            let id = tag.id.flatMap { RoomSettings.isTopicLevel($0) ? $0 : nil } ?? tag.name.map(RoomName.id) ?? text
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
        // The engine leaves out what has the id of another.
        let kept = Set(engine.tags.map(\.id))
        var seen: Set<String> = []
        identities = tags.filter { kept.contains($0.id) && seen.insert($0.id).inserted }
        states = identities.map { old[$0.id] ?? TagState() }
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
            case .decided(let decision): publish(decision, epoch: epoch, &outcome.messages)
            case .found(let finding): outcome.findings.append(finding)
            }
        }
    }

    /// Makes all messages of one decision: leave of the old room, enter of the new one, location, tag, old room, new
    /// room.
    private mutating func publish(
        _ decision: RoomEngine.Decision, epoch: Int64, _ messages: inout [RoomMessage]
    ) {
        guard identities.indices.contains(decision.tag), let site else { return }
        let tag = identities[decision.tag]
        if let from = decision.from { occupants[from.id]?.removeAll { $0 == decision.tag } }
        if let to = decision.to { occupants[to.id, default: []].append(decision.tag) }
        states[decision.tag] = TagState(room: decision.to, isHome: decision.isHome, since: epoch)
        let base = "owntracks/rooms-\(site)/\(tag.id)"
        if let from = decision.from { messages.append(transition(.leave, from, tag, base, epoch)) }
        if let to = decision.to { messages.append(transition(.enter, to, tag, base, epoch)) }
        if decision.from != nil || decision.to != nil || !decision.isHome {
            messages.append(location(decision.to, tag, base, epoch))
        }
        messages.append(state(of: tag, decision, epoch, site))
        for room in [decision.from, decision.to] {
            if let room { messages.append(state(of: room, site)) }
        }
    }

    private func region(_ room: RoomName) -> Region {
        Region(
            rid: derivedRID(name: room.id, timestamp: 0), description: RegionDescription(name: room.name, pattern: nil),
            timestamp: 0)
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

    private func state(
        of tag: TagIdentity, _ decision: RoomEngine.Decision, _ epoch: Int64, _ site: String
    ) -> RoomMessage {
        let payload = JSONValue.object([
            "name": .string(tag.name),
            "room": decision.to.map { .string($0.id) } ?? .null,
            "roomName": decision.to.map { .string($0.name) } ?? .null,
            "since": .integer(epoch),
            // Hundredths, made of a whole number: the same text everywhere.
            "confidence": .number(Double(Int((decision.confidence * 100).rounded())) / 100),
            "home": .bool(decision.isHome),
        ])
        return RoomMessage(
            topic: "ibeacon-rooms/\(site)/tag/\(tag.id)", payload: payload.bytes, qos: 1, isRetained: true)
    }

    /// Tags that a room's message names.
    private static let mostNamed = 50

    private func state(of room: RoomName, _ site: String) -> RoomMessage {
        let inside = occupants[room.id] ?? []
        let payload = JSONValue.object([
            "name": .string(room.name),
            "count": .integer(Int64(inside.count)),
            "tags": .array(inside.prefix(Self.mostNamed).map { .string(identities[$0].name) }),
        ])
        return RoomMessage(
            topic: "ibeacon-rooms/\(site)/room/\(room.id)", payload: payload.bytes, qos: 1, isRetained: true)
    }
}
