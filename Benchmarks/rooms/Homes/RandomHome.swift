import Glibc

/// A home that follows from its number alone, with what is recorded there: a walk by one person, then lives of others.
///
/// `Benchmarks/README.md` has the source of each distribution.
struct RandomHome {
    /// One person or thing whose tag is judged.
    struct Trial {
        var wear: TagWear
        var session: Session

        var isWorn: Bool { wear.isWorn }
    }

    let number: UInt64
    let home: Home
    /// Seconds between two messages of a node; nil: the receivers are gateways, which send each second.
    let nodePeriod: Double?
    /// When the seconds of each gateway begin, 0 … 1.
    let phases: [Double]
    /// Two minutes in each room, by a person who is not judged.
    private(set) var walk = Session(name: "walk")
    /// What is lived before the trials. People rest for minutes, not for hours, so that it is short.
    private(set) var week: [Session] = []
    private(set) var trials: [Trial] = []
    let plan: FloorPlan
    let radio: HomeRadio
    private var random: Random

    /// - Parameters:
    ///   - isOneWeak: Takes 10 dB from one receiver. All else is the same.
    ///   - restHours: For how long the tag lies on the table. All else is the same, except that a receiver may fail later.
    ///   - hasNodes: Gives each home nodes. All else is the same.
    init(number: UInt64, isOneWeak: Bool = false, restHours: Int = 1, hasNodes: Bool = false) {
        self.number = number
        var random = Self.random(of: number)
        (plan, radio) = Self.building(number: number, isOneWeak: isOneWeak, &random)
        home = Home(
            name: "home \(number)", rooms: plan.rooms.map(\.name),
            gateways: radio.receivers.enumerated().map { ("receiver\($0.offset + 1)", $0.element.room) })
        let period = random.uniform() < 0.3 ? pow(10, random.uniform()) : nil
        nodePeriod = period ?? (hasNodes ? Self.nodePeriod(number: number) : nil)
        phases = radio.receivers.map { _ in random.uniform() }
        self.random = random
        live(restHours: restHours)
    }

    /// Seconds between two messages of a node, for homes that draw no nodes.
    static func nodePeriod(number: UInt64) -> Double {
        var random = Random(seed: number &* 0x6a09_e667_f3bc_c909 &+ 3)
        return pow(10, random.uniform())
    }

    private static func random(of number: UInt64) -> Random { Random(seed: number &* 0x2545_f491_4f6c_dd1d) }

    /// The rooms and receivers of a home, which it draws before all else.
    private static func building(number: UInt64, isOneWeak: Bool, _ random: inout Random) -> (FloorPlan, HomeRadio) {
        let count = 3 + random.below(13)
        let floors = count < 5 ? 1 : 1 + random.below(3)
        let plan = FloorPlan(rooms: count, floors: floors, area: 8 + 12 * random.uniform(), &random)
        return (plan, HomeRadio(plan, weak: isOneWeak ? Int(number) : nil, &random))
    }

    /// The same rooms and receivers without anybody who lives there.
    static func building(number: UInt64) -> (plan: FloorPlan, radio: HomeRadio) {
        var random = random(of: number)
        return building(number: number, isOneWeak: false, &random)
    }

    private static let wornIntervals = [0.1, 0.25, 0.5, 1, 1, 1, 2, 5, 10]
    private static let stillIntervals: [Double] = [0.5, 1, 1, 2, 5, 10]

    private mutating func live(restHours: Int) {
        var people: [TagWear] = []
        for _ in 0..<3 {
            let interval = Self.wornIntervals[random.below(Self.wornIntervals.count)]
            people.append(TagWear(wornIn: plan.rooms.count, interval: interval, &random))
        }
        let still = TagWear(stillWith: Self.stillIntervals[random.below(Self.stillIntervals.count)], &random)
        walk = trainingWalk(people[2])
        for day in 0..<7 { week.append(session(day == 6 ? still : people[day % 2], seconds: 900)) }
        // In one home of three a receiver fails for some minutes.
        let failing = random.uniform() < 1 / 3 ? random.below(radio.receivers.count) : nil
        for (wear, seconds) in [(people[0], 1200), (people[1], 1200), (still, 3600 * restHours)] {
            trials.append(Trial(wear: wear, session: session(wear, seconds: seconds, failing: failing)))
        }
    }

    private mutating func trainingWalk(_ wear: TagWear) -> Session {
        var bearer = Bearer(wear, plan, radio, &random)
        var session = Session(name: "walk")
        for room in plan.rooms.indices {
            bearer.walker.carry(to: room, plan, &random)
            for second in 0..<120 {
                if second % 8 == 7 { bearer.walker.stroll(plan, &random) }
                bearer.second(Double(room * 120 + second), plan, radio, &random, into: &session.moments)
            }
        }
        session.seconds = session.makeSeconds()
        return session
    }

    private mutating func session(_ wear: TagWear, seconds: Int, failing: Int? = nil) -> Session {
        var bearer = Bearer(wear, plan, radio, &random)
        var session = Session(name: wear.isWorn ? "worn" : "still")
        if let failing {
            let from = random.uniform() * Double(seconds) / 2
            session.outages = [(failing, from, from + 120 + 480 * random.uniform())]
        }
        for second in 0..<seconds {
            let begin = session.moments.count
            if wear.isWorn { bearer.walker.decide(plan, at: Double(second), leavesHome: false, &random) }
            bearer.second(Double(second), plan, radio, &random, into: &session.moments)
            for moment in begin..<session.moments.count {
                for outage in session.outages where session.isGone(outage.gateway, at: session.moments[moment].time) {
                    session.moments[moment].levels[outage.gateway] = nil
                }
            }
        }
        session.seconds = session.makeSeconds()
        return session
    }
}

/// A tag on its way through a random home.
private struct Bearer {
    private let wear: TagWear
    var walker: Walker
    private var facing: Double
    private var posture = 0.0
    private var wasWalking = true
    private var nextPacket: Double
    /// Mean levels at `place`, without and with the body, and how each channel fades there, in standard deviations.
    private var place: Point?
    private var bare: [Double] = []
    private var levels: [Double] = []
    private var fading: [Double]

    init(_ wear: TagWear, _ plan: FloorPlan, _ radio: HomeRadio, _ random: inout Random) {
        self.wear = wear
        walker = Walker(plan, room: random.below(plan.rooms.count), &random)
        if wear.isWorn {
            (walker.speed, walker.meanRest, walker.destinations) = (wear.speed, wear.meanRest, wear.destinations)
        } else {
            walker.rest(until: .infinity)
        }
        facing = random.uniform() * 2 * .pi
        nextPacket = random.uniform() * wear.interval
        fading = (0..<3 * radio.receivers.count).map { _ in random.normal() }
    }

    /// Moves for one second, and adds the packets that it sends in it.
    mutating func second(
        _ time: Double, _ plan: FloorPlan, _ radio: HomeRadio, _ random: inout Random, into moments: inout [Moment]
    ) {
        let isWalking = walker.isWalking
        if isWalking {
            walker.step(at: time, &random)
            facing = walker.heading
            posture = 0
        } else if wasWalking {
            posture = wear.posture * random.normal()
        }
        // What else moves in a home changes the fading of what lies still.
        let turned = isWalking || wasWalking ? 1 : wear.isWorn ? wear.restlessness : 0.02
        facing += isWalking ? 0 : turned * random.normal()
        wasWalking = isWalking
        let kept = sqrt(1 - turned * turned)
        for index in fading.indices { fading[index] = kept * fading[index] + turned * random.normal() }
        if place != walker.position { bare = radio.levels(at: walker.position, in: walker.room) }
        place = walker.position
        levels = bare
        if wear.isWorn { addBody(radio) }
        while nextPacket < time + 1 {
            let heard = radio.receivers.indices.map { level(at: $0, radio, &random) }
            moments.append(Moment(time: max(time, nextPacket), room: walker.room, levels: heard))
            nextPacket += wear.interval
        }
    }

    private mutating func addBody(_ radio: HomeRadio) {
        for (index, receiver) in radio.receivers.enumerated() {
            let bearing = atan2(receiver.at.y - walker.position.y, receiver.at.x - walker.position.x)
            levels[index] -= wear.loss + posture + wear.shadow * (1 - cos(bearing - facing - wear.side)) / 2
        }
    }

    /// What a receiver measures of one packet; nil: it is lost. A receiver listens on one of three channels at a time.
    private func level(at index: Int, _ radio: HomeRadio, _ random: inout Random) -> Double? {
        let fade = fading[3 * index + random.below(3)]
        let level = levels[index] + wear.power + radio.fading * fade + random.normal()
        let heard = (1 - radio.receivers[index].lost) / (1 + exp(-(level + 93) / 1.5))
        return random.uniform() < heard ? level.rounded() : nil
    }
}
