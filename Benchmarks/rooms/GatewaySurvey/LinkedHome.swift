import Glibc

/// A random home whose gateways hear each other for days, minute by minute: people rest in the way, doors open and close, furniture is
/// moved, gateways are restarted. `Benchmarks/README.md` has the source of each number.
struct LinkedHome {
    /// What happens to a gateway, and when, minutes.
    enum Event: Hashable {
        case movedToAnotherRoom, movedInTheRoom, covered
    }

    let plan: FloorPlan
    private(set) var radio: HomeRadio
    private let powers: [Double]
    private var people: [Inhabitant]
    private var doors: [SwingingDoor]
    private var links: [Link] = []
    /// Decibels that each gateway lost by being covered.
    private var covers: [Double]
    private var offUntil: [Int]
    private var random: Random
    /// What nodes have received, by sender and receiver.
    private var nodes: [Int: NodeHearing] = [:]
    private(set) var minute = 0

    /// The way between two gateways.
    private struct Link {
        let one: Int
        let other: Int
        /// Without gains and powers, dBm.
        var mean = 0.0
        /// How each of three channels fades, standard deviations.
        var fading: [Double]
        /// What was put in the way since.
        var furniture = 0.0
        /// Inhabitants who rest in the way, with what each takes, dB.
        var bodies: [Int: Double] = [:]
    }

    init(number: UInt64) { self.init(number: number, in: RandomHome.building(number: number)) }

    /// - Parameter power: How much more all gateways send than a tag whose stated power is the same, dB.
    init(number: UInt64, in building: (plan: FloorPlan, radio: HomeRadio), power: Double = 0) {
        (plan, radio) = building
        // Another sequence than the one of the home, which goes on with who lives there.
        var random = Random(seed: number &* 0x9e6c_63d0_876a_68ee &+ 1)
        powers = radio.receivers.map { _ in power + 2 * random.normal() }
        covers = radio.receivers.map { _ in 0 }
        offUntil = radio.receivers.map { _ in 0 }
        let plan = plan
        people = (0..<1 + random.below(4)).map { _ in Inhabitant(plan, &random) }
        doors = plan.doors.map { SwingingDoor($0, &random) }
        self.random = random
        for other in radio.receivers.indices {
            for one in 0..<other {
                links.append(Link(one: one, other: other, fading: (0..<3).map { _ in self.random.normal() }))
            }
        }
        measure { _ in true }
    }

    var count: Int { radio.receivers.count }
    var isDay: Bool { (7 * 60..<23 * 60).contains(minute % 1440) }

    /// Carries a gateway to another wall, or puts something in front of it.
    mutating func happen(_ event: Event, to gateway: Int) {
        let room = radio.receivers[gateway].room
        switch event {
        case .covered: covers[gateway] += 10
        case .movedInTheRoom: move(gateway, to: room) { $0 >= 2 }
        case .movedToAnotherRoom:
            let others = plan.rooms.indices.filter { $0 != room }
            move(gateway, to: others[random.below(others.count)]) { _ in true }
        }
    }

    /// With which mean level each other gateway hears this one while nobody is in the way, dBm, at least `leastHeard`.
    func heard(of gateway: Int) -> [Int: Double] {
        var heard: [Int: Double] = [:]
        for link in links where link.one == gateway || link.other == gateway {
            let receiver = link.one == gateway ? link.other : link.one
            let level =
                link.mean + link.furniture + powers[gateway] + radio.receivers[receiver].gain - covers[gateway]
                - covers[receiver]
            heard[receiver] = max(Self.leastHeard, level)
        }
        return heard
    }

    /// One packet of twenty is received with this level, dBm.
    static let leastHeard = -97.4

    private mutating func move(_ gateway: Int, to room: Int, ifFar isFar: (Double) -> Bool) {
        let place = plan.rooms[room]
        var point = radio.receivers[gateway].at
        for _ in 0..<100
        where !isFar(point.distance(to: radio.receivers[gateway].at)) || point == radio.receivers[gateway].at {
            point = FloorPlan.nearWall(place.x, place.y, place.floor, &random)
        }
        radio.move(gateway, to: point, in: room)
        for index in links.indices where links[index].one == gateway || links[index].other == gateway {
            links[index].fading = links[index].fading.map { _ in random.normal() }
            links[index].furniture = 0
        }
        measure { $0.one == gateway || $0.other == gateway }
    }

    /// What a transmitter of 0 dB is heard with, the same in both directions.
    private mutating func measure(_ concerns: (Link) -> Bool) {
        let receivers = radio.receivers
        let levels = receivers.map { radio.levels(at: $0.at, in: $0.room) }
        for index in links.indices where concerns(links[index]) {
            let (one, other) = (links[index].one, links[index].other)
            let there = levels[one][other] - receivers[other].gain
            let back = levels[other][one] - receivers[one].gain
            links[index].mean = (there + back) / 2
        }
    }

    /// One minute passes.
    ///
    /// - Parameter hear: For each gateway that hears another one: sender, receiver, the mean level (dBm) of what it received, and the share of
    ///   the packets.
    mutating func pass(_ hear: (_ sender: Int, _ receiver: Int, _ level: Double, _ share: Double) -> Void) {
        pass { home, link, sender, receiver in
            let fading = home.radio.fading * link.fading.reduce(0, +) / 3
            let level = home.level(of: link, fading, from: sender, to: receiver) + 0.3 * home.random.normal()
            let share = (1 - home.radio.receivers[receiver].lost) / (1 + exp(-(level + 93) / 1.5))
            if home.random.uniform() < 1 - pow(1 - share, 60) { hear(sender, receiver, level, share) }
        }
    }

    /// One minute passes, in which nodes hear each other.
    ///
    /// - Parameters:
    ///   - period: Seconds between two messages of a node about one other.
    ///   - hear: For each message: sender, receiver, and the level in it, dBm.
    mutating func pass(asNodesWith period: Double, _ hear: (_ sender: Int, _ receiver: Int, _ level: Double) -> Void) {
        pass { home, link, sender, receiver in
            let mean = home.level(of: link, 0, from: sender, to: receiver)
            let (fading, lost) = (home.radio.fading, home.radio.receivers[receiver].lost)
            home.nodes[sender * home.count + receiver, default: NodeHearing()].hear(
                untilMinute: home.minute, period: period, &home.random,
                receive: { random in
                    let level = mean + fading * link.fading[random.below(3)] + random.normal()
                    let share = (1 - lost) / (1 + exp(-(level + 93) / 1.5))
                    return random.uniform() < share ? level.rounded() : nil
                }, publish: { hear(sender, receiver, $0) })
        }
    }

    /// - Parameter each: Is called for both directions of each link whose ends are on.
    private mutating func pass(_ each: (inout LinkedHome, Link, _ sender: Int, _ receiver: Int) -> Void) {
        minute += 1
        live()
        // What moves in a home changes the fading between things that lie still: .02 a second, as in `RandomHome`.
        let kept = pow(1 - 0.02 * 0.02, 30.0)
        let turned = sqrt(1 - kept * kept)
        for index in links.indices {
            for channel in 0..<3 {
                links[index].fading[channel] = kept * links[index].fading[channel] + turned * random.normal()
            }
            let link = links[index]
            for (sender, receiver) in [(link.one, link.other), (link.other, link.one)]
            where minute >= offUntil[sender] && minute >= offUntil[receiver] {
                each(&self, link, sender, receiver)
            }
        }
    }

    /// The mean level of a sender at a receiver, dBm.
    private func level(of link: Link, _ fading: Double, from sender: Int, to receiver: Int) -> Double {
        let inTheWay = link.bodies.values.reduce(0, +) + link.furniture + doorLoss(of: link)
        return link.mean + fading - inTheWay + powers[sender] + radio.receivers[receiver].gain - covers[sender]
            - covers[receiver] + drift(of: sender) + drift(of: receiver)
    }

    /// Warmth changes what a gateway sends and measures.
    private func drift(of gateway: Int) -> Double {
        0.5 * sin(2 * .pi * (Double(minute % 1440) / 1440 + Double(gateway) / 7))
    }

    private func doorLoss(of link: Link) -> Double {
        doors.reduce(0) { $0 + ($1.isClosed && $1.stands(between: ends(of: link)) ? $1.loss : 0) }
    }

    private func ends(of link: Link) -> (Point, Point) {
        (radio.receivers[link.one].at, radio.receivers[link.other].at)
    }

    private mutating func live() {
        for index in people.indices where people[index].changesPlace(at: minute, plan, &random) { block(by: index) }
        if isDay {
            for index in doors.indices where random.uniform() < 1 / 120 { doors[index].isClosed.toggle() }
        }
        // Something is put elsewhere, once in five days.
        if random.uniform() < 1 / (5 * 1440) {
            for _ in 0..<min(3, links.count) { links[random.below(links.count)].furniture = 4 * random.normal() }
        }
        for gateway in offUntil.indices where random.uniform() < 1 / (4 * 1440) {
            offUntil[gateway] = minute + 2 + random.below(180)
        }
    }

    /// An inhabitant has another place: in the way of some links, and near some.
    private mutating func block(by person: Int) {
        for index in links.indices {
            links[index].bodies[person] = nil
            guard let place = people[person].place else { continue }
            let (one, other) = ends(of: links[index])
            guard one.floor == place.floor || other.floor == place.floor else { continue }
            switch distance(of: place, from: one, other) {
            case ..<0.4: links[index].bodies[person] = 4 + 11 * random.uniform()
            case ..<0.8: links[index].bodies[person] = 2 * random.normal()
            default: break
            }
        }
    }
}

/// Of a point from a line between two others, seen from above, m.
private func distance(of point: Point, from one: Point, _ other: Point) -> Double {
    let (x, y) = (other.x - one.x, other.y - one.y)
    let length = x * x + y * y
    let part = length > 0 ? ((point.x - one.x) * x + (point.y - one.y) * y) / length : 0
    let nearest = min(1, max(0, part))
    let (dx, dy) = (point.x - one.x - nearest * x, point.y - one.y - nearest * y)
    return sqrt(dx * dx + dy * dy)
}

/// A door between two rooms of one floor, which takes something while it is closed.
private struct SwingingDoor {
    private let at: Point
    let loss: Double
    var isClosed: Bool

    init(_ door: FloorPlan.Door, _ random: inout Random) {
        at = door.at
        loss = 1 + 4 * random.uniform()
        isClosed = random.uniform() < 0.5
    }

    func stands(between ends: (Point, Point)) -> Bool {
        ends.0.floor == at.floor && ends.1.floor == at.floor && distance(of: at, from: ends.0, ends.1) < 0.5
    }
}

/// A person who rests here and there, sleeps at night, and is away on some days.
private struct Inhabitant {
    /// nil: away.
    private(set) var place: Point?
    private let bed: Point
    private var until = 0
    /// Minutes since midnight.
    private let sleepsFrom: Int
    private let risesAt: Int
    private let goesOut: Double
    private let seats: [Point]

    init(_ plan: FloorPlan, _ random: inout Random) {
        bed = plan.somewhere(in: random.below(plan.rooms.count), &random)
        // Half of the time people rest where they always do.
        seats = (0..<2).map { _ in plan.somewhere(in: random.below(plan.rooms.count), &random) }
        sleepsFrom = 22 * 60 + random.below(120)
        risesAt = 6 * 60 + random.below(150)
        goesOut = random.uniform()
        place = bed
    }

    /// - Returns: Whether there is another place now.
    mutating func changesPlace(at minute: Int, _ plan: FloorPlan, _ random: inout Random) -> Bool {
        guard minute >= until else { return false }
        let now = minute % 1440
        if now >= sleepsFrom || now < risesAt {
            until = minute + 10
            defer { place = bed }
            return place != bed
        }
        until = minute + 1 + Int(random.exponential(mean: 20))
        if (8 * 60..<17 * 60).contains(now), random.uniform() < goesOut * 0.3 {
            until = minute + 60 + random.below(480)
            place = nil
        } else if random.uniform() < 0.5 {
            place = seats[random.below(seats.count)]
        } else {
            place = plan.somewhere(in: random.below(plan.rooms.count), &random)
        }
        return true
    }
}
