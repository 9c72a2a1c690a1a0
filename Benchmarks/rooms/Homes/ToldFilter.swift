import Glibc

/// A filter that is told what no engine can know of a random home: the levels in each room, who wears the tag and how, the doors, and how
/// often that person walks. It shows how much of the time on a wrong floor is due to what the engine does not know.
///
/// It is a hidden Markov model, too. Its states are rooms, or places with a direction of the body, at rest and walking. It reports the best
/// room of the most probable floor.
struct ToldFilter {
    /// What it is told of the levels in each room.
    enum Knowledge: String, CaseIterable {
        case rooms = "the mean and the spread at each receiver in each room"
        case places = "the mean at each receiver at places of each room"
    }

    private static let places = 24
    private static let allDirections = 4
    /// Mean seconds: of a walk, in a room that is walked through, and at a place of it.
    private static let walk = 10.0
    private static let crossing = 4.0
    private static let step = 1.5

    private let home: RandomHome
    private let wear: TagWear
    private let roomCount: Int
    /// Of each state of the body, by place and direction, for each receiver: the mean level, its inverse variance, and the log likelihood that
    /// it loses a packet.
    private var means: [Double] = []
    private var precisions: [Double] = []
    private var losses: [Double] = []
    /// States of the body in each room, and at each place.
    private let bodies: Int
    private let directions: Int
    private let neighbours: [[Int]]
    /// Of each room and state of the body, the probability at rest and walking.
    private var rest: [Double]
    private var walking: [Double]

    init(_ home: RandomHome, _ wear: TagWear, knowing knowledge: Knowledge) {
        (self.home, self.wear, roomCount) = (home, wear, home.plan.rooms.count)
        let radio = home.radio
        let variance = radio.fading * radio.fading + 1
        let allBodies = Self.places * Self.allDirections
        (bodies, directions) = knowledge == .places ? (allBodies, Self.allDirections) : (1, 1)
        let plan = home.plan
        neighbours = plan.rooms.indices.map { room in plan.rooms.indices.filter { plan.door(room, $0) != nil } }
        rest = [Double](repeating: 1, count: roomCount * bodies)
        walking = rest
        let width = sqrt(1.5 * 1.5 + (variance + wear.posture * wear.posture) * .pi / 8)
        var random = Random(seed: home.number &+ 1)
        for room in 0..<roomCount {
            for _ in 0..<Self.places {
                let point = plan.somewhere(in: room, &random)
                let bare = radio.levels(at: point, in: room)
                for direction in 0..<Self.allDirections {
                    let facing = 2 * .pi * Double(direction) / Double(Self.allDirections)
                    for (receiver, level) in zip(radio.receivers, bare) {
                        let bearing = atan2(receiver.at.y - point.y, receiver.at.x - point.x)
                        let body = wear.loss + wear.shadow * (1 - cos(bearing - facing - wear.side)) / 2
                        let mean = level + wear.power - body
                        means.append(mean)
                        losses.append(log(1 - (1 - receiver.lost) / (1 + exp(-(mean + 93) / width))))
                        precisions.append(1 / variance)
                    }
                }
            }
        }
        if knowledge == .rooms { mergePlaces(count: allBodies, receivers: radio.receivers.count, variance) }
    }

    /// Keeps the mean and the spread of each room alone.
    private mutating func mergePlaces(count: Int, receivers: Int, _ variance: Double) {
        let (all, lost) = (means, losses)
        (means, precisions, losses) = ([], [], [])
        for room in 0..<roomCount {
            for receiver in 0..<receivers {
                let indices = (0..<count).map { (room * count + $0) * receivers + receiver }
                let mean = indices.reduce(0) { $0 + all[$1] } / Double(count)
                let spread = indices.reduce(0) { $0 + (all[$1] - mean) * (all[$1] - mean) } / Double(count)
                means.append(mean)
                precisions.append(1 / (variance + spread))
                losses.append(log(indices.reduce(0) { $0 + exp(lost[$1]) } / Double(count)))
            }
        }
    }

    /// What it reports, as soon as the first message about a packet is there.
    mutating func reports(of session: Session) -> [Report] {
        var reports: [Report] = []
        var time = session.moments.first?.time ?? 0
        for moment in session.moments {
            move(for: moment.time - time)
            time = moment.time
            weigh(moment, session)
            reports.append((home.firstMessage(about: moment) ?? moment.time + 1, bestRoom()))
        }
        return reports.sorted { $0.time < $1.time }
    }

    /// The best room of the most probable floor.
    private func bestRoom() -> Int {
        let shares = (0..<roomCount).map { room in
            let bodies = room * bodies..<(room + 1) * bodies
            return bodies.reduce(0) { $0 + rest[$1] + walking[$1] }
        }
        var floors: [Int: Double] = [:]
        for room in 0..<roomCount { floors[home.plan.rooms[room].floor, default: 0] += shares[room] }
        let floor = floors.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
        let rooms = (0..<roomCount).filter { home.plan.rooms[$0].floor == floor }
        return rooms.max { shares[$0] < shares[$1] } ?? 0
    }

    /// The forward step without a packet. Who rests stays at a place and turns slowly; who walks is elsewhere soon.
    private mutating func move(for seconds: Double) {
        guard seconds > 0 else { return }
        func share(_ mean: Double) -> Double { 1 - exp(-seconds / mean) }
        let (begins, ends) = (share(wear.meanRest + 10), share(Self.walk))
        let turned = share(1 / (2 * wear.restlessness * wear.restlessness))
        let (crossed, stepped) = (share(Self.crossing / wear.speed), share(Self.step))
        var rooms = [Double](repeating: 0, count: roomCount)
        for room in 0..<roomCount {
            for first in stride(from: room * bodies, to: (room + 1) * bodies, by: directions) {
                let place = first..<first + directions
                let mean = place.reduce(0) { $0 + rest[$1] } / Double(directions)
                for body in place {
                    let resting = rest[body] + turned * (mean - rest[body])
                    rest[body] = resting * (1 - begins) + walking[body] * ends
                    walking[body] = walking[body] * (1 - ends) + resting * begins
                    rooms[room] += walking[body]
                }
            }
        }
        var arriving = [Double](repeating: 0, count: roomCount)
        for room in 0..<roomCount {
            for next in neighbours[room] { arriving[next] += rooms[room] * crossed / Double(neighbours[room].count) }
        }
        for room in 0..<roomCount {
            let leaves = neighbours[room].isEmpty ? 0 : crossed
            let spread = (rooms[room] * (1 - leaves) * stepped + arriving[room]) / Double(bodies)
            for body in room * bodies..<(room + 1) * bodies {
                walking[body] = walking[body] * (1 - leaves) * (1 - stepped) + spread
            }
        }
    }

    /// Weighs a packet. What a posture takes from all receivers is marginalised. The fading of quick packets repeats, so that they count less.
    private mutating func weigh(_ moment: Moment, _ session: Session) {
        let receivers = home.radio.receivers.count
        let heard = (0..<receivers).compactMap { receiver in moment.levels[receiver].map { (receiver, $0) } }
        let missed = (0..<receivers).filter { moment.levels[$0] == nil && !session.isGone($0, at: moment.time) }
        let posture = wear.posture * wear.posture
        let weight = min(1, wear.interval)
        var logs = [Double](repeating: 0, count: rest.count)
        for body in logs.indices {
            let first = body * receivers
            var (sum, squares, precision, product, lost) = (0.0, 0.0, 0.0, 1.0, 0.0)
            for (receiver, level) in heard {
                let deviation = level - means[first + receiver]
                let weight = precisions[first + receiver]
                sum += deviation * weight
                squares += deviation * deviation * weight
                precision += weight
                product *= weight
            }
            for receiver in missed { lost += losses[first + receiver] }
            let common = 1 + posture * precision
            logs[body] = lost + 0.5 * (log(product / common) - squares + posture * sum * sum / common)
        }
        let best = logs.max() ?? 0
        var total = 0.0
        for body in logs.indices {
            let factor = exp(weight * (logs[body] - best)) + 1e-12
            rest[body] *= factor
            walking[body] *= factor
            total += rest[body] + walking[body]
        }
        for body in logs.indices {
            rest[body] /= total
            walking[body] /= total
        }
    }
}
