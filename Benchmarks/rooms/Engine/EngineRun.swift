import Base
import Beacon
import Regions
import RoomRules
import Rooms
import RoomsSupport
import SiteProtocol

/// Plays sessions through the engine as gateways would send them: one message per gateway and second.
struct EngineRun {
    private static let uuid = BeaconUUID(high: 0x1111_2222_3333_4444, low: 0x5555_6666_7777_8888)
    static let secondBeacon = BeaconID(uuid: uuid, major: 1, minor: 2)
    private let home: Home
    private(set) var engine: RoomEngine
    private var clock: Double = 10
    /// The number of the latest message of each gateway.
    private var sequences: [Int: Int64] = [:]
    /// Shifts of the gateways' seconds against each other, 0 … 1 s.
    var phases: [Double]
    private(set) var reports: [(time: Double, room: Int)] = []
    /// Plays as nodes, and not as gateways.
    private var nodes: NodeFeed?
    /// Belief by room after each second, for the picture.
    var beliefs: [(time: Double, [Float])] = []
    private let notesBelief: Bool

    /// - Parameter known: What the engine knows from the beginning; nil: that the gateways exist.
    init(
        _ home: Home, _ tuning: RoomTuning, phases: [Double]? = nil, nodes: NodeFeed? = nil, areKnown: Bool = true,
        notesBelief: Bool = false, knowing known: LearnedSite? = nil
    ) {
        self.home = home
        self.notesBelief = notesBelief
        self.nodes = nodes
        self.phases = phases ?? home.gateways.map { _ in 0 }
        engine = RoomEngine(tuning: tuning)
        var learned = LearnedSite()
        learned.gateways = home.gateways.map { LearnedSite.Gateway(name: $0.name, room: nil, isKnown: areKnown) }
        engine.restore(known ?? learned)
        let tags = [1, 2].map { (minor: UInt16) in
            TagDescription(
                id: minor == 1 ? "tag" : "still", name: "Tag",
                pattern: BeaconPattern(uuid: Self.uuid, major: 1, minor: minor))
        }
        pass(.tags(tags), at: 1)
        for gateway in home.gateways {
            pass(.card(gateway: gateway.name, room: home.rooms[gateway.room]), at: 1)
        }
    }

    /// What gateways that hear each other know of how they measure.
    mutating func setOffsets(_ offsets: [String: Float]) { pass(.offsets(offsets), at: clock) }

    /// What gateways hear of each other.
    mutating func setLevels(_ levels: SurveyedLevels) { pass(.levels(levels), at: clock) }

    /// On which floor each room is, and which are stairs.
    mutating func setFloors(_ floors: [RoomName: RoomFloor]) { pass(.floors(floors), at: clock) }

    enum Use { case walk, unlabelled, test }

    /// Plays a session.
    ///
    /// - Returns: What was reported, in the session's own time.
    @discardableResult
    mutating func play(_ session: Session, as use: Use) -> [(time: Double, room: Int)] {
        guard let first = session.moments.first, let last = session.moments.last else { return [] }
        let shift = clock + 300 - first.time.rounded(.down)
        // What was reported last holds until something else is.
        reports = reports.suffix(1).map { (first.time - 1 + shift, $0.room) }
        beliefs = []
        if nodes == nil { hearNothing() }
        pass(.discontinuity, at: clock)
        if nodes != nil {
            playNodes(session, as: use, shift: shift)
        } else {
            playGateways(session, as: use, from: first.time, to: last, shift: shift)
        }
        clock = last.time + 2 + shift
        tick(until: clock)
        return reports.map { ($0.time - shift, $0.room) }
    }

    /// Between two sessions the tag is away: the gateways send for a minute that they hear nothing.
    private mutating func hearNothing() {
        for _ in 0..<60 {
            clock += 1
            for gateway in home.gateways.indices {
                send((time: clock, gateway: gateway, levels: [], last: clock), shift: 0)
            }
        }
    }

    private mutating func playNodes(_ session: Session, as use: Use, shift: Double) {
        let beacon = BeaconID(uuid: Self.uuid, major: 1, minor: 1)
        var stays = session.stays[...]
        for message in nodes?.messages(of: session, in: home, beacon) ?? [] {
            if use == .walk { train(&stays, until: message.time, shift: shift) }
            pass(
                .heard(gateway: home.gateways[message.gateway].name, message.second), at: message.time + shift)
        }
    }

    /// Announces the stays that have begun.
    private mutating func train(_ stays: inout ArraySlice<Session.Stay>, until time: Double, shift: Double) {
        while let stay = stays.first, stay.from <= time {
            let length = Duration.milliseconds(Int64((stay.to - stay.from) * 1000))
            pass(.learn(room: home.rooms[stay.room], tag: "tag", length), at: stay.from + shift)
            stays.removeFirst()
        }
    }

    private mutating func playGateways(
        _ session: Session, as use: Use, from first: Double, to last: Moment, shift: Double
    ) {
        var messages: [(time: Double, gateway: Int, levels: [Double], last: Double)] = []
        for gateway in home.gateways.indices {
            var second = first.rounded(.down) + phases[gateway]
            var heard: [(Double, Double)] = []
            var silent = 0
            for moment in session.moments + [Moment(time: last.time + 2, room: 0, levels: last.levels.map { _ in nil })]
            {
                while moment.time >= second + 1 {
                    second += 1
                    if heard.isEmpty { silent += 1 } else { silent = 0 }
                    // As the feed of a gateway does: each second for half a minute, then every ten.
                    if silent <= 30 || silent % 10 == 0 {
                        messages.append((second, gateway, heard.map(\.1), heard.last?.0 ?? second))
                    }
                    heard = []
                }
                if let level = moment.levels[gateway] { heard.append((moment.time, level)) }
            }
        }
        messages.sort { ($0.time, $0.gateway) < ($1.time, $1.gateway) }
        var stays = session.stays[...]
        for message in messages
        where message.time <= last.time + 1 && !session.isGone(message.gateway, at: message.time) {
            if use == .walk { train(&stays, until: message.time, shift: shift) }
            send(message, shift: shift)
            if notesBelief, beliefs.last?.time != message.time { noteBelief(at: message.time) }
        }
    }

    private mutating func noteBelief(at time: Double) {
        var row = [Float](repeating: 0, count: home.rooms.count)
        for (room, probability) in engine.belief(ofTag: 0) {
            if let index = home.rooms.firstIndex(where: { RoomName.id(of: $0) == room.id }) { row[index] = probability }
        }
        beliefs.append((time, row))
    }

    private mutating func send(_ message: (time: Double, gateway: Int, levels: [Double], last: Double), shift: Double) {
        var readings: [Reading] = []
        if !message.levels.isEmpty {
            let sorted = message.levels.sorted()
            let middle = sorted.count / 2
            let median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
            readings.append(
                Reading(
                    beacon: BeaconID(uuid: Self.uuid, major: 1, minor: 1), count: sorted.count,
                    level: Float(median.rounded()),
                    power: -59, age: .milliseconds(Int64((message.time - message.last) * 1000))))
        }
        sequences[message.gateway, default: 0] += 1
        let time = message.time + shift
        pass(
            .heard(
                gateway: home.gateways[message.gateway].name,
                HeardSecond(
                    startID: "b", sequence: sequences[message.gateway] ?? 0, at: .milliseconds(Int64(time * 1000)),
                    listening: .seconds(1),
                    reports: 10,
                    readings: readings)), at: time)
    }

    private mutating func tick(until end: Double) {
        let limit = MonotonicInstant(nanoseconds: Int64(end * 1e9))
        while let deadline = engine.nextDeadline, deadline < limit {
            take(engine.handle(.tick, at: deadline), at: Double(deadline.nanoseconds) / 1e9)
        }
    }

    private mutating func pass(_ input: RoomEngine.Input, at time: Double) {
        tick(until: time)
        take(engine.handle(input, at: MonotonicInstant(nanoseconds: Int64(time * 1e9))), at: time)
    }

    private mutating func take(_ effects: [RoomEngine.Effect], at time: Double) {
        for effect in effects {
            guard case .decided(let decision) = effect, decision.tag == 0 else { continue }
            let room = decision.to.flatMap { name in home.rooms.firstIndex { RoomName.id(of: $0) == name.id } }
            reports.append((time, room ?? -1))
        }
    }
}
