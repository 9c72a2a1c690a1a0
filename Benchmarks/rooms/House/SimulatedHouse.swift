import Base
import Beacon
import Regions
import RoomRules
import Rooms
import RoomsSupport
import SiteProtocol

/// A house with ten tags and eight gateways, second by second, through the engine.
struct SimulatedHouse {
    /// A gateway that does not hear: it is gone, or it is online and deaf.
    struct Failure {
        var gateway: Int
        var from: Double
        var to: Double
        var isDeaf: Bool
        /// When the engine found it.
        var found: Double?
    }

    private static let uuid = BeaconUUID(high: 0x1111_2222_3333_4444, low: 0x5555_6666_7777_8888)

    let plan = FloorPlan()
    let noise: NoiseFit
    private(set) var engine: RoomEngine
    private(set) var tags: [SimulatedTag] = []
    private(set) var failures: [Failure] = []
    /// By tag: rooms, -1: at home and not known, -2: away.
    private(set) var reports: [[Report]]
    /// By tag, whenever it left home: when, and the leave timeout of the slowest gateway, seconds.
    private(set) var departures: [[(time: Double, leaveTimeout: Double)]]
    private var random: Random
    private(set) var time = 0.0
    /// The number of the latest message of each gateway, sent or lost.
    private var sequences: [Int64]
    /// By gateway: when it sent a message, and when it heard a tag.
    private var lastSent: [Double]
    private var lastHeard: [Double]
    /// What the engine took since the measurement began: processor time, seconds, for so many readings.
    private(set) var engineTime = 0.0
    private(set) var readings = 0

    /// - Parameters:
    ///   - intervals: Of the beacons of the tags, seconds.
    ///   - floors: What the engine is told of the floors.
    ///   - hearsGateways: Whether the gateways sent a beacon of their own for a day before, and the engine knows what they heard.
    init(
        _ noise: NoiseFit, seed: UInt64, tuning: RoomTuning, intervals: [(Double, isWorn: Bool)],
        floors: FloorKnowledge = .nothing, hearsGateways: Bool = false
    ) {
        self.noise = noise
        engine = RoomEngine(tuning: tuning)
        random = Random(seed: seed)
        for (number, (interval, isWorn)) in intervals.enumerated() {
            tags.append(
                SimulatedTag(plan, interval: interval, isWorn: isWorn, room: number % plan.rooms.count, &random))
        }
        reports = tags.map { _ in [] }
        departures = tags.map { _ in [] }
        lastSent = plan.rooms.map { _ in 0 }
        lastHeard = lastSent
        sequences = plan.rooms.map { _ in 0 }
        let descriptions = tags.indices.map {
            TagDescription(
                id: "tag\($0)", name: "Tag \($0)",
                pattern: BeaconPattern(uuid: Self.uuid, major: 1, minor: UInt16($0)))
        }
        pass(.tags(descriptions), at: 1)
        for room in plan.rooms { pass(.card(gateway: room.name, room: room.name), at: 1) }
        if floors != .nothing { pass(.floors(floors.told(of: plan)), at: 1) }
        if hearsGateways {
            let measured = surveyed(seed: seed)
            pass(.offsets(measured.offsets), at: 1)
            pass(.levels(measured), at: 1)
        }
    }

    /// What the gateways hear of each other in a day. A way between two has a place of its own, and fades by the minute as the way of a tag
    /// that lies still: both directions share it, as in `LinkedHome`.
    private func surveyed(seed: UInt64) -> SurveyedLevels {
        var random = Random(seed: seed &* 0x9e37_79b9_7f4a_7c15 &+ 1)
        let count = plan.rooms.count
        let ways = (0..<count).flatMap { other in (0..<other).map { (one: $0, other: other) } }
        let means = ways.map { way in
            plan.level(at: plan.rooms[way.one].gateway, in: way.one, gateway: way.other)
                + noise.slow / 2 * random.normal()
        }
        var survey = LevelSurvey()
        for minute in 0..<1440 {
            let now = MonotonicInstant(nanoseconds: Int64(minute) * 60_000_000_000)
            for (way, mean) in zip(ways, means) {
                let faded = mean + noise.fast / 2 * random.normal()
                for (sender, receiver) in [(way.one, way.other), (way.other, way.one)] {
                    let level = faded + 0.3 * random.normal()
                    guard level > LinkedHome.leastHeard else { continue }
                    survey.hear(
                        sender: plan.rooms[sender].name, receiver: plan.rooms[receiver].name, level: Float(level),
                        at: now)
                }
            }
            survey.tick(at: now)
        }
        return survey.levels()
    }

    mutating func pass(_ input: RoomEngine.Input) { pass(input, at: time + 10) }

    private mutating func pass(_ input: RoomEngine.Input, at clock: Double) {
        let instant = MonotonicInstant(nanoseconds: Int64(clock * 1e9))
        while let deadline = engine.nextDeadline, deadline < instant {
            take(engine.handle(.tick, at: deadline), at: Double(deadline.nanoseconds) / 1e9 - 10)
        }
        let begin = processorTime()
        let effects = engine.handle(input, at: instant)
        engineTime += processorTime() - begin
        if case .heard(_, let second) = input { readings += second.readings.count }
        take(effects, at: clock - 10)
    }

    private mutating func take(_ effects: [RoomEngine.Effect], at time: Double) {
        for effect in effects {
            switch effect {
            case .decided(let decision):
                let room = decision.to.flatMap { name in plan.rooms.firstIndex { $0.name == name.name } }
                reports[decision.tag].append((time, decision.isHome ? room ?? -1 : -2))
            case .found(.deaf(let name)):
                for index in failures.indices
                where failures[index].found == nil && plan.rooms[failures[index].gateway].name == name {
                    failures[index].found = time
                }
            case .found: break
            }
        }
    }

    /// - Parameter fails: Whether gateways fail, on average one every ten hours.
    mutating func run(hours: Double, fails: Bool, leavesHome: Bool) {
        for _ in 0..<Int(hours * 3600) {
            second(fails: fails, leavesHome: leavesHome)
        }
    }

    private mutating func second(fails: Bool, leavesHome: Bool) {
        if fails, random.uniform() < 1 / 36_000, failures.last.map({ $0.to + 600 < time }) ?? true {
            failures.append(
                Failure(
                    gateway: random.below(plan.rooms.count), from: time, to: time + 120 + random.exponential(mean: 900),
                    isDeaf: random.uniform() < 0.5))
        }
        var sent: [(count: Int, last: Double)] = []
        for tag in tags.indices {
            let wasAway = tags[tag].isAway
            tags[tag].live(plan, at: time, leavesHome: leavesHome, &random)
            if tags[tag].isAway, !wasAway { noteDeparture(of: tag) }
            sent.append(tags[tag].packets(from: time))
        }
        for gateway in plan.rooms.indices {
            let failure = failures.last.flatMap { $0.gateway == gateway && $0.to > time ? $0 : nil }
            var readings: [Reading] = []
            if failure == nil {
                for tag in tags.indices where sent[tag].count > 0 {
                    guard let heard = tags[tag].hear(gateway: gateway, packets: sent[tag].count, noise, &random) else {
                        continue
                    }
                    readings.append(
                        Reading(
                            beacon: BeaconID(uuid: Self.uuid, major: 1, minor: UInt16(tag)), count: heard.count,
                            level: Float(heard.level.rounded()), power: -59,
                            age: .milliseconds(Int64((time + 1 - sent[tag].last) * 1000))))
                }
            } else if failure?.isDeaf == false {
                sequences[gateway] += 1
                continue
            }
            if !readings.isEmpty { lastHeard[gateway] = time }
            guard time - lastHeard[gateway] <= 30 || time - lastSent[gateway] >= 9 else { continue }
            lastSent[gateway] = time
            sequences[gateway] += 1
            // Gateways end their seconds at different times.
            let end = time + 1 + Double(gateway * 37 % 100) / 1000
            pass(
                .heard(
                    gateway: plan.rooms[gateway].name,
                    HeardSecond(
                        startID: "b", sequence: sequences[gateway], at: .milliseconds(Int64(end * 1000)),
                        listening: .seconds(1),
                        reports: failure == nil ? 20 : 0, readings: readings)), at: end + 10)
        }
        time += 1
    }

    private mutating func noteDeparture(of tag: Int) {
        let now = MonotonicInstant(nanoseconds: Int64((time + 10) * 1e9))
        guard let timeout = engine.leaveTimeout(ofTag: tag, at: now) else { return }
        departures[tag].append((time, Double(timeout.nanoseconds) / 1e9))
    }

    /// Carries a tag through the house, two minutes in each room, as `rooms learn` asks for.
    mutating func trainWalk(tag: Int) {
        for room in plan.rooms.indices {
            tags[tag].carry(to: room, plan, &random)
            pass(.learn(room: plan.rooms[room].name, tag: "tag\(tag)", .seconds(120)))
            for _ in 0..<122 {
                if Int(time) % 3 == 0 { tags[tag].carry(to: room, plan, &random) }
                second(fails: false, leavesHome: false)
            }
        }
        tags[tag].release(at: time)
    }

    /// Forgets what was reported, for a measurement that begins now.
    mutating func beginMeasurement() {
        (engineTime, readings) = (0, 0)
        for tag in tags.indices {
            tags[tag].forgetStays()
            reports[tag] = reports[tag].suffix(1).map { (time - 1, $0.room) }
            departures[tag] = []
        }
    }
}
