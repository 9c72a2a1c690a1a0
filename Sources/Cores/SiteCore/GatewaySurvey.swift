package import Base
import Beacon
package import Rooms
package import SiteProtocol

/// What the gateways of a site hear of each other's beacons, and what is said of it.
///
/// `LevelSurvey` decides which gateways were moved or covered. Here it is decided which readings count for that, when it is told and stored.
/// The readings are no tags': the room engine gets none of them, only by how much the gateways measure more or less than others.
package struct GatewaySurvey: Sendable {
    /// Time between two looks at which gateways are to be asked for a beacon.
    private static let period: Duration = .seconds(5)
    /// Time between two looks at what has changed.
    private static let round: Duration = .seconds(60)
    /// Time for which a gateway counts as heard by another.
    private static let memory: Duration = .seconds(600)
    /// Time between two writes of the levels, as of what is learned of rooms.
    private static let storing: Duration = .seconds(900)
    /// A change of a gateway's level is told again if it differs by so many dB.
    private static let leastStep = 2
    /// By so many dB a gateway must measure otherwise than before to be corrected anew.
    private static let leastOffset: Float = 0.5
    /// By so many dB a level between two gateways must be another one to be told anew.
    private static let leastLevel: Float = 1

    private var levels = LevelSurvey()
    /// When `check` is due; nil while no gateway is asked for a beacon.
    package private(set) var due: MonotonicInstant?
    private var roundDue = MonotonicInstant.zero
    private var rotation = MonotonicInstant.zero
    private var storeDue = MonotonicInstant.zero
    /// Which gateways heard each sender, now and in the time before.
    private var hearers: [String: Set<String>] = [:]
    private var formerHearers: [String: Set<String>] = [:]
    /// The gateways that were moved or covered, as last told.
    private var told: [String: SurveyHealth.Change] = [:]
    /// What is published about each gateway that is asked for a beacon.
    package private(set) var standing: [String: SurveyHealth] = [:]
    /// How much more each gateway measures than others, dB, as the room engine knows it.
    package private(set) var offsets: [String: Float] = [:]
    /// What they hear of each other, as the room engine knows it: without what a moved or covered gateway hears, and is heard with.
    package private(set) var between = SurveyedLevels()
    /// What the room engine is told.
    var known: [RoomEngine.Input] { [.offsets(offsets), .levels(between)] }

    /// Readings of gateways and pairs that had no place.
    package var droppedReadings: Int { levels.droppedReadings }

    /// Whether a person is asked if the gateway was moved or covered.
    package func asks(about gateway: String) -> Bool { told[gateway] != nil }

    // MARK: - Start and store

    mutating func restore(_ stored: StoredSite) { levels = LevelSurvey(stored.surveyLevels) }

    /// Gateways are asked for beacons from now on.
    mutating func begin(at now: MonotonicInstant) {
        guard due == nil else { return }
        measureLevels()
        due = now.advanced(by: Self.period)
        (roundDue, rotation) = (now.advanced(by: Self.round), now.advanced(by: Self.memory))
        storeDue = now.advanced(by: Self.storing)
    }

    /// What is stored, while gateways are asked for beacons.
    var stored: [Site.Effect] { due == nil ? [] : [.store(.surveyLevels(levels.stored))] }

    // MARK: - What is heard

    /// The message without the readings of the gateways' beacons, which `hear` takes.
    static func second(_ second: HeardSecond, without beacons: SurveyBeacons) -> HeardSecond {
        guard second.readings.contains(where: { beacons.gateway(sending: $0.beacon) != nil }) else { return second }
        var rest = second
        rest.readings.removeAll { beacons.gateway(sending: $0.beacon) != nil }
        return rest
    }

    /// A gateway heard the beacons of others. What it says counts if its message does. A sender counts while its own card says that it
    /// sends this beacon: after a change of the minors, another one may still have it.
    mutating func hear(
        _ second: HeardSecond, by receiver: String, _ beacons: SurveyBeacons, _ whereabouts: Whereabouts,
        at now: MonotonicInstant
    ) {
        let plan = whereabouts.engine.plan
        guard beacons.minors[receiver] != nil, plan.hasCounted(messageOf: receiver, at: now) else { return }
        for reading in second.readings {
            guard let sender = beacons.gateway(sending: reading.beacon), sender != receiver, let level = reading.level,
                case .sends(reading.beacon.minor, _) = whereabouts.gateways.cards[sender]?.survey,
                plan.isTrusted(gateway: sender)
            else { continue }
            hearers[sender, default: []].insert(receiver)
            levels.hear(sender: sender, receiver: receiver, level: level, at: now)
        }
    }

    /// An ESPresense node heard something that has this id: another node, if it is that one's. Nodes send a beacon each by themselves.
    ///
    /// What a node says counts if its message does. One in whose place a gateway is heard neither hears nor is heard.
    mutating func hear(
        _ reading: ReceivedNodeReading, of alias: String, by receiver: String, _ beacons: SurveyBeacons?,
        _ whereabouts: Whereabouts, at now: MonotonicInstant
    ) {
        guard due != nil, let sender = whereabouts.aliases.node(of: alias), sender.name != receiver,
            beacons?.minors[sender.name] == nil, beacons?.minors[receiver] == nil
        else { return }
        let plan = whereabouts.engine.plan
        guard plan.isTrusted(gateway: sender.name), whereabouts.feed(inPlaceOf: sender.name, at: now) == nil,
            plan.hasCounted(messageOf: receiver, at: now),
            let second = try? reading.second(of: sender.beacon), let level = second.readings.first?.level
        else { return }
        levels.hear(sender: sender.name, receiver: receiver, level: level, at: now)
    }

    /// A person says that the gateway is where it belongs: its levels are measured anew.
    mutating func accept(_ gateway: String, _ effects: inout [Site.Effect]) {
        levels.accept(gateway: gateway)
        measureLevels()
        standing[gateway]?.change = nil
        guard told.removeValue(forKey: gateway) != nil else { return }
        effects += stored
        effects += [
            .log(.notice, "what is heard of \(gateway) is learned anew, because a person says so"), .pageChanged,
        ]
    }

    /// A gateway names another room, and nobody is asked whether it was carried there: its levels are measured anew. The engine says so,
    /// because it knows renamed rooms.
    private mutating func dropCarried(_ whereabouts: Whereabouts, _ effects: inout [Site.Effect]) {
        for carried in levels.gateways where whereabouts.engine.plan.wasCarried(gateway: carried) {
            levels.accept(gateway: carried)
            effects.append(.log(.notice, "what is heard of \(carried) is learned anew, because it names another room"))
        }
    }

    /// Nobody is asked about a node. One that is not where it was is measured anew, and one that is gone is forgotten.
    private mutating func dropNodes(
        _ beacons: SurveyBeacons?, _ whereabouts: Whereabouts, _ effects: inout [Site.Effect]
    ) {
        let nodes = levels.gateways.filter { beacons?.minors[$0] == nil }
        for node in nodes where !whereabouts.engine.plan.isTrusted(gateway: node) { levels.forget(gateway: node) }
        for change in levels.changes where nodes.contains(change.gateway) {
            levels.accept(gateway: change.gateway)
            let text =
                "what is heard of the node \(change.gateway) is learned anew, because \(change.deviating) of \(change.neighbours) "
                + "others hear it otherwise, or are heard so"
            effects.append(.log(.notice, text))
        }
    }

    /// The card of a gateway was removed.
    mutating func forget(_ gateway: String) {
        levels.forget(gateway: gateway)
        measureLevels()
        (told[gateway], standing[gateway]) = (nil, nil)
        (hearers[gateway], formerHearers[gateway]) = (nil, nil)
    }

    // MARK: - What is said

    /// Looks at what has changed, if that is due.
    ///
    /// - Parameters:
    ///   - beacons: What gateways are asked to send; nil: none is asked.
    ///   - stores: Whether the levels are stored.
    mutating func check(
        _ beacons: SurveyBeacons?, _ whereabouts: Whereabouts, stores: Bool, at now: MonotonicInstant,
        _ effects: inout [Site.Effect]
    ) {
        due = now.advanced(by: Self.period)
        if roundDue <= now {
            roundDue = now.advanced(by: Self.round)
            levels.tick(at: now)
            dropCarried(whereabouts, &effects)
            dropNodes(beacons, whereabouts, &effects)
            tell(whereabouts.clock, &effects)
            setOffsets(measureLevels().offsets)
        }
        if rotation <= now {
            rotation = now.advanced(by: Self.memory)
            (hearers, formerHearers) = ([:], hearers)
        }
        describe(beacons)
        guard stores, storeDue <= now else { return }
        storeDue = now.advanced(by: Self.storing)
        effects += stored
    }

    /// Tells which gateways were moved or covered, once each.
    private mutating func tell(_ clock: WallClock, _ effects: inout [Site.Effect]) {
        let changes = Dictionary(levels.changes.map { ($0.gateway, $0) }) { first, _ in first }
        for gateway in told.keys.sorted() where changes[gateway] == nil {
            told[gateway] = nil
            effects += [.found(.sameAgain(gateway: gateway)), .pageChanged]
        }
        for (gateway, change) in changes.sorted(by: { $0.key < $1.key }) {
            let since = clock.isKnown ? clock.epochSeconds(at: change.since) : nil
            let new = SurveyHealth.Change(change, since: since)
            guard let old = told[gateway], old.kind == new.kind else {
                told[gateway] = new
                let time = clock.localTime(at: change.since)
                effects += [.found(.changed(gateway: gateway, new, since: time)), .pageChanged]
                continue
            }
            // Each minute brings another figure, and each one that is published is stored.
            if abs(old.decibels - new.decibels) >= Self.leastStep || old.deviating != new.deviating {
                told[gateway] = new
            }
        }
    }

    private mutating func setOffsets(_ measured: [String: Float]) {
        let isOther = measured.contains { abs($0.value - offsets[$0.key, default: 0]) >= Self.leastOffset }
        if isOther || offsets.keys.contains(where: { measured[$0] == nil }) { offsets = measured }
    }

    /// - Returns: What is measured now.
    @discardableResult
    private mutating func measureLevels() -> SurveyedLevels {
        let measured = levels.levels(without: Set(told.keys))
        if measured.differs(from: between, by: Self.leastLevel) { between = measured }
        return measured
    }

    private mutating func describe(_ beacons: SurveyBeacons?) {
        standing = (beacons?.minors ?? [:]).reduce(into: [:]) { standing, asked in
            let gateway = asked.key
            let heardBy = (hearers[gateway] ?? []).union(formerHearers[gateway] ?? []).count
            standing[gateway] = SurveyHealth(
                heardBy: heardBy, offset: offsets[gateway].map { Int($0.rounded()) }, change: told[gateway])
        }
    }
}

extension SurveyHealth.Change {
    fileprivate init(_ change: LevelSurvey.Change, since: Int64?) {
        let kind: Kind =
            switch change.kind {
            case .moved: .moved
            case .covered: .covered
            }
        self.init(
            kind, since: since, deviating: change.deviating, neighbours: change.neighbours,
            decibels: Int(max(-127, min(127, change.decibels)).rounded()))
    }
}
