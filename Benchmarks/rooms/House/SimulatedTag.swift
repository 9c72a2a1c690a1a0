import Glibc
import RoomRules

/// A tag in the house: still, or worn by a person who walks.
struct SimulatedTag {
    let interval: Double
    let isWorn: Bool
    private var walker: Walker
    /// Rooms with their times, for the score; -1: away.
    private(set) var stays: [Session.Stay] = []
    private var nextPacket: Double
    /// Of each gateway's level: it wanders with the place and the way the body stands, dB.
    private var wander: [Double]
    /// Means per gateway without noise at the position.
    private var means: [Double] = []

    init(_ plan: FloorPlan, interval: Double, isWorn: Bool, room: Int, _ random: inout Random) {
        (self.interval, self.isWorn) = (interval, isWorn)
        walker = Walker(plan, room: room, &random)
        nextPacket = random.uniform() * interval
        wander = plan.rooms.map { _ in random.normal() }
        walker.rest(until: random.exponential(mean: 300))
        setMeans(plan)
    }

    var isAway: Bool { walker.isAway }

    /// One second of life.
    mutating func live(_ plan: FloorPlan, at time: Double, leavesHome: Bool, _ random: inout Random) {
        if isWorn {
            walker.decide(plan, at: time, leavesHome: leavesHome, &random)
            if walker.isWalking {
                turn(0.35, &random)
                walker.step(at: time, &random)
                setMeans(plan)
            } else if !isAway {
                // At rest the body turns now and then.
                turn(0.02, &random)
            }
        }
        let place = isAway ? -1 : walker.room
        if stays.last?.room != place { stays.append((place, time, time)) }
        stays[stays.count - 1].to = time + 1
    }

    /// Puts it elsewhere in a room, where it stays until the next time.
    mutating func carry(to room: Int, _ plan: FloorPlan, _ random: inout Random) {
        walker.carry(to: room, plan, &random)
        turn(0.7, &random)
        setMeans(plan)
    }

    /// After it was carried it goes its own ways again.
    mutating func release(at time: Double) { walker.rest(until: time + 60) }

    mutating func forgetStays() { stays = [] }

    /// The wandering part forgets a share of itself.
    private mutating func turn(_ share: Double, _ random: inout Random) {
        let kept = sqrt(1 - share * share)
        for gateway in wander.indices { wander[gateway] = kept * wander[gateway] + share * random.normal() }
    }

    private mutating func setMeans(_ plan: FloorPlan) {
        means = plan.rooms.indices.map { plan.level(at: walker.position, in: walker.room, gateway: $0) }
    }

    /// Packets that it sends in the second.
    mutating func packets(from time: Double) -> (count: Int, last: Double) {
        var count = 0
        var last = time
        while nextPacket < time + 1 {
            if nextPacket >= time { count += 1 }
            last = max(time, nextPacket)
            nextPacket += interval
        }
        return isAway ? (0, time) : (count, last)
    }

    /// What a gateway measures of `count` packets: the median of those that it heard.
    func hear(gateway: Int, packets count: Int, _ noise: NoiseFit, _ random: inout Random) -> (
        level: Double, count: Int
    )? {
        let mean = means[gateway] + (isWorn ? noise.slow : noise.slow / 2) * wander[gateway]
        guard mean > -102 else { return nil }
        var levels: [Double] = []
        // Of ten packets in a second the median of five differs little from that of ten.
        for _ in 0..<min(count, 5) {
            let level = mean + noise.fast * random.normal()
            let heard = (1 - max(0.1, noise.missed)) / (1 + exp(-(level + 93) / 1.5))
            if random.uniform() < heard { levels.append(level) }
        }
        guard !levels.isEmpty else { return nil }
        levels.sort()
        return (levels[(levels.count - 1) / 2], levels.count)
    }
}
