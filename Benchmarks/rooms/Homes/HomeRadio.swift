import Glibc

/// What the receivers of a random home hear of a place, without the body that wears the tag. `Benchmarks/README.md` has the
/// source of each number.
struct HomeRadio {
    struct Receiver {
        var at: Point
        var room: Int
        /// How much more it measures than others, dB.
        var gain: Double
        /// Share of packets that it loses although they are strong.
        var lost: Double
        /// Of its level over the places of the home: waves, whose sum is about normal.
        var waves: [(x: Double, y: Double, floor: Double, phase: Double)]
    }

    private let plan: FloorPlan
    private(set) var receivers: [Receiver]
    /// Mean level at a distance of one metre, dBm, and how fast it falls.
    let reference: Double
    let exponent: Double
    /// Losses of the walls between two rooms of one floor, and of a floor, dB.
    private let walls: [[Double]]
    private let floorLoss: Double
    private let shadowing: Double
    /// Of one packet's level against the others of the place: three channels, which fade independently, dB.
    let fading: Double

    /// - Parameter weak: The number of a receiver, modulo their count, that measures 10 dB less.
    init(_ plan: FloorPlan, weak: Int?, _ random: inout Random) {
        self.plan = plan
        func between(_ range: ClosedRange<Double>) -> Double {
            range.lowerBound + random.uniform() * (range.upperBound - range.lowerBound)
        }
        reference = between(-54 ... -40)
        exponent = between(1.8...2.6)
        let wall = between(3...8)
        floorLoss = between(6...16)
        shadowing = between(2.5...5)
        fading = between(3...5)
        var walls = plan.rooms.map { _ in plan.rooms.map { _ in 0.0 } }
        for one in plan.rooms.indices {
            for other in 0..<one {
                // One wall in eight is an opening.
                let loss = random.uniform() < 0.125 ? 0 : wall * between(0.7...1.3)
                (walls[one][other], walls[other][one]) = (loss, loss)
            }
        }
        self.walls = walls
        var receivers: [Receiver] = []
        for room in plan.rooms.indices {
            let place = plan.rooms[room]
            for number in 0..<(random.uniform() < 0.2 ? 2 : 1) {
                let at = number == 0 ? place.gateway : FloorPlan.nearWall(place.x, place.y, place.floor, &random)
                let waves = (0..<8).map { _ in
                    (
                        x: random.normal() / 1.5, y: random.normal() / 1.5, floor: random.normal() * 3,
                        phase: between(0...(2 * .pi))
                    )
                }
                receivers.append(
                    Receiver(at: at, room: room, gain: between(-6...6), lost: between(0.05...0.3), waves: waves))
            }
        }
        if let weak { receivers[weak % receivers.count].gain -= 10 }
        self.receivers = receivers
    }

    /// Carries a receiver to another place.
    mutating func move(_ receiver: Int, to point: Point, in room: Int) {
        (receivers[receiver].at, receivers[receiver].room) = (point, room)
    }

    /// Mean levels at the receivers, dBm.
    func levels(at point: Point, in room: Int) -> [Double] {
        receivers.map { receiver in
            let distance = max(0.5, point.distance(to: receiver.at))
            let floors = abs(plan.rooms[room].floor - plan.rooms[receiver.room].floor)
            var shadow = 0.0
            for wave in receiver.waves {
                shadow += cos(wave.x * point.x + wave.y * point.y + wave.floor * Double(point.floor) + wave.phase)
            }
            shadow *= shadowing * sqrt(2 / Double(receiver.waves.count))
            return reference + receiver.gain - 10 * exponent * log10(distance) + shadow - floorLoss * Double(floors)
                // Where a floor lies between them, the way passes about half of the walls below.
                - wallLoss(from: point, to: receiver) * (floors > 0 ? 0.5 : 1)
        }
    }

    /// Of the walls between the rooms of the receiver's floor that lie on the straight way, dB.
    private func wallLoss(from point: Point, to receiver: Receiver) -> Double {
        let floor = plan.rooms[receiver.room].floor
        var passed: [(at: Double, room: Int)] = []
        for room in plan.rooms.indices where plan.rooms[room].floor == floor {
            let place = plan.rooms[room]
            var part = 0.0...1.0
            guard clip(&part, point.x, receiver.at.x, place.x), clip(&part, point.y, receiver.at.y, place.y),
                part.upperBound - part.lowerBound > 0.01
            else { continue }
            passed.append((part.lowerBound, room))
        }
        passed.sort { ($0.at, $0.room) < ($1.at, $1.room) }
        return zip(passed, passed.dropFirst()).reduce(0) { $0 + walls[$1.0.room][$1.1.room] }
    }

    /// Keeps the part of a way that lies within a range of one coordinate.
    ///
    /// - Returns: false if nothing remains.
    private func clip(
        _ part: inout ClosedRange<Double>, _ from: Double, _ to: Double, _ range: ClosedRange<Double>
    ) -> Bool {
        guard abs(to - from) > 1e-9 else { return range.contains(from) }
        let (one, other) = ((range.lowerBound - from) / (to - from), (range.upperBound - from) / (to - from))
        let (low, high) = (max(part.lowerBound, min(one, other)), min(part.upperBound, max(one, other)))
        guard low < high else { return false }
        part = low...high
        return true
    }
}
