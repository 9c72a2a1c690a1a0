import Base
import Beacon
import Regions
import Rooms
import RoomsSupport
import SiteProtocol

/// A house with a gateway in each room, and one tag, for tests: levels go in each second, reports come out.
struct House {
    static let beacon = BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)
    static let pattern = BeaconPattern(uuid: beacon.uuid, major: 3, minor: 4)
    var engine: RoomEngine
    var now: Double = 10
    /// The number of the latest message of each gateway.
    var sequences: [String: Int64] = [:]
    var reported: [String?] = []
    var home: [Bool] = []
    var findings: [RoomEngine.Finding] = []
    let gateways: [String]
    private var noise = Noise()

    /// - Parameter areKnown: Whether the gateways count from their first message on, as after a restart of the service.
    init(
        _ rooms: [(gateway: String, room: String)], _ tuning: RoomTuning = RoomTuning(), areKnown: Bool = true,
        bounds: RoomEngine.Bounds = RoomEngine.Bounds()
    ) {
        engine = RoomEngine(tuning: tuning, bounds: bounds)
        var learned = LearnedSite()
        learned.gateways = rooms.map { LearnedSite.Gateway(name: $0.gateway, room: nil, isKnown: areKnown) }
        engine.restore(learned)
        gateways = rooms.map(\.gateway)
        let pattern = BeaconPattern(uuid: Self.beacon.uuid, major: 3, minor: 4)
        pass(.tags([TagDescription(id: "jane", name: "Jane", pattern: pattern)]))
        for (gateway, room) in rooms { pass(.card(gateway: gateway, room: room)) }
    }

    /// Ends the service, and starts it with what it learned. The tag was away.
    mutating func restart() {
        let learned = engine.plan.learned
        engine = RoomEngine(tuning: engine.tuning)
        engine.restore(learned)
        let pattern = BeaconPattern(uuid: Self.beacon.uuid, major: 3, minor: 4)
        pass(.tags([TagDescription(id: "jane", name: "Jane", pattern: pattern)]))
        for gateway in learned.gateways {
            guard let room = gateway.room else { continue }
            pass(.card(gateway: gateway.name, room: learned.rooms[room].name.name))
        }
    }

    mutating func pass(_ input: RoomEngine.Input) {
        take(engine.handle(input, at: MonotonicInstant(nanoseconds: Int64(now * 1e9))))
    }

    private mutating func take(_ effects: [RoomEngine.Effect]) {
        for effect in effects {
            switch effect {
            case .decided(let decision):
                reported.append(decision.to?.name)
                home.append(decision.isHome)
            case .found(let finding): findings.append(finding)
            }
        }
    }

    /// One second: the level at each gateway; nil: it hears nothing; the message of a gateway that is left out is lost.
    mutating func second(_ levels: [String: Float?], reports: Int64 = 10) {
        wait(until: now + 1)
        for gateway in gateways {
            guard let level = levels[gateway] else {
                sequences[gateway, default: 0] += 1
                continue
            }
            send(from: gateway, level: level, reports: level == nil ? reports : max(1, reports))
        }
    }

    mutating func wait(until time: Double) {
        let end = MonotonicInstant(nanoseconds: Int64(time * 1e9))
        while let deadline = engine.nextDeadline, deadline < end { take(engine.handle(.tick, at: deadline)) }
        now = time
    }

    /// - Parameter age: Seconds since the beacon sent the packet.
    mutating func send(
        from gateway: String, level: Float?, reports: Int64 = 10, age: Double = 0, startID: String = "a",
        beacon: BeaconID = House.beacon
    ) {
        sequences[gateway, default: 0] += 1
        let readings = level.map {
            [Reading(beacon: beacon, count: 1, level: $0, power: -59, age: .seconds(age))]
        }
        pass(
            .heard(
                gateway: gateway,
                HeardSecond(
                    startID: startID, sequence: sequences[gateway] ?? 0, at: .milliseconds(Int64(now * 1000)),
                    listening: .seconds(1),
                    reports: reports, readings: readings ?? [])))
    }

    mutating func seconds(_ count: Int, reports: Int64 = 10, _ levels: [String: Float?]) {
        for _ in 0..<count { second(levels, reports: reports) }
    }
}

/// Levels of one packet deviate by up to 5 dB, in a fixed sequence.
private struct Noise {
    private var state: UInt64 = 7

    mutating func next() -> Float {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Float(Int(state >> 33) % 11) - 5
    }
}

extension House {
    /// One second in one place; without a packet, no gateway hears the tag. The noise of each gateway is the same in each run.
    ///
    /// - Parameter levels: nil: the gateway hears nothing there; the message of one that is left out is lost.
    mutating func place(_ levels: [String: Float?], hasPacket: Bool = true, reports: Int64 = 10) {
        var heard = levels
        for (gateway, level) in levels.sorted(by: { $0.key < $1.key }) {
            heard[gateway] = hasPacket ? level.map { $0 + noise.next() } : Float?.none
        }
        second(heard, reports: reports)
    }

    /// Lets the tag lie in one place.
    ///
    /// - Parameter interval: Seconds between two packets.
    mutating func lie(for seconds: Int, every interval: Int = 1, _ levels: [String: Float?]) {
        for second in 0..<seconds { place(levels, hasPacket: second % interval == 0) }
    }

    /// Seconds until the room is reported; nil: it is not within a minute.
    mutating func delay(until room: String, every interval: Int = 1, _ levels: [String: Float?]) -> Int? {
        let before = reported.count
        for second in 0..<60 {
            place(levels, hasPacket: second % interval == 0)
            if reported.count > before, reported.last == room { return second + 1 }
        }
        return nil
    }
}
