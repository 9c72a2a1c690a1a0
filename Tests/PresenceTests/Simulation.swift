import Base
import Beacon
import Presence
import Regions

let uuid = BeaconUUID(high: 0x0011_2233_4455_6677, low: 0x8899_aabb_ccdd_eeff)

func beacon(_ minor: UInt16, major: UInt16 = 1) -> BeaconID { BeaconID(uuid: uuid, major: major, minor: minor) }

func key(_ rid: String) -> RegionKey { RegionKey(tracker: 0, rid: rid) }

func region(
    _ rid: String, major: UInt16? = nil, minor: UInt16? = nil, leave: LeaveRule = .auto, leavesLater: Bool = false,
    enterRSSI: Int8? = nil, leaveRSSI: Int8? = nil
) -> MonitoredRegion {
    MonitoredRegion(
        key: key(rid), pattern: BeaconPattern(uuid: uuid, major: major, minor: minor), leaveRule: leave,
        leavesLater: leavesLater, enterRSSI: enterRSSI.flatMap { RSSI(reported: $0) },
        leaveRSSI: leaveRSSI.flatMap { RSSI(reported: $0) })
}

func at(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64((seconds * 1e9).rounded())) }

func sighting(_ minor: UInt16 = 1, rssi: Int8? = -60, receiver: UInt16 = 0) -> Sighting {
    Sighting(
        beacon: beacon(minor), measuredPower: MeasuredPower(dBm: -59), rssi: rssi.flatMap { RSSI(reported: $0) },
        receiver: Receiver(index: receiver))
}

/// Repeatable random numbers.
struct Random: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }
    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state &* 0x2545_f491_4f6c_dd1d
    }
    mutating func unit() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }
}

/// An engine in virtual time: ticks come when it asks for them, as in the daemon.
struct Simulation {
    enum Change: Hashable {
        case entered(RegionKey)
        case left(RegionKey)
        case dropped(RegionKey)
    }

    struct Event: Hashable {
        let change: Change
        let seconds: Double
    }

    var engine: PresenceEngine
    var events: [Event] = []
    var now = 0.0

    init(
        _ regions: [MonitoredRegion], receivers: [UInt16] = [0], mostStrangers: Int = PresenceTiming.mostStrangers,
        mostReceivers: Int = PresenceTiming.mostReceivers, decidesJointly: Bool = true
    ) {
        engine = PresenceEngine(
            mostStrangers: mostStrangers, mostReceivers: mostReceivers, decidesJointly: decidesJointly)
        handle(.regions(regions))
        for receiver in receivers { handle(.listening(Receiver(index: receiver), true)) }
    }

    var leaves: [Double] {
        events.compactMap { if case .left = $0.change { $0.seconds } else { nil } }
    }

    mutating func handle(_ input: PresenceEngine.Input) {
        record(engine.handle(input, at: at(now)))
    }

    mutating func record(_ effects: [PresenceEngine.Effect]) {
        for effect in effects {
            switch effect {
            case .entered(let key, _): events.append(Event(change: .entered(key), seconds: now))
            case .left(let key, _, _): events.append(Event(change: .left(key), seconds: now))
            case .dropped(let key): events.append(Event(change: .dropped(key), seconds: now))
            }
        }
    }

    /// Lets time run, with the ticks that the engine asks for.
    mutating func run(to end: Double) {
        while let deadline = engine.nextDeadline, deadline <= at(end) {
            now = max(now, Double(deadline.nanoseconds) / 1e9)
            record(engine.handle(.tick, at: deadline))
        }
        now = max(now, end)
    }

    /// How long after its last sighting the beacon leaves; nil: it does not within `limit` seconds, or leaves more than once.
    func silenceUntilLeave(within limit: Double = 2000) -> Double? {
        var simulation = self
        simulation.run(to: now + limit)
        return simulation.leaves.count == leaves.count + 1 ? simulation.leaves.last.map { $0 - now } : nil
    }

    mutating func hear(_ sighting: Sighting = PresenceTests.sighting(), at seconds: Double) {
        run(to: seconds)
        handle(.sighting(sighting))
    }

    /// A beacon that advertises until `end`, of which a share is heard.
    mutating func advertise(
        _ minor: UInt16 = 1, every interval: Double, until end: Double, heard: Double = 1, rssi: Int8 = -60,
        receiver: UInt16 = 0, _ random: inout Random
    ) {
        var next = now + interval
        while next <= end {
            if random.unit() < heard { hear(PresenceTests.sighting(minor, rssi: rssi, receiver: receiver), at: next) }
            next += interval + random.unit() * 0.01
        }
    }
}
