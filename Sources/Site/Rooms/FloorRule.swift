/// What is known of floors changes a belief: the receivers of a floor add up, and the floor is changed at the stairs.
///
/// All windows share its memory, so that none of them allocates.
struct FloorRule: Sendable {
    /// The site as a window needs it.
    struct Site {
        let floors: Floors
        let gateways: Table<GatewayIndex, GatewayState>
    }

    /// The log likelihood of each weighed room, with what all receivers of its floor say.
    private(set) var evidence: [Float] = []
    /// Of each floor that hears the tag.
    private var sums: [(floor: Int, sum: Float)] = []
    private let tuning: FloorTuning
    private let exitPrior: Float

    init(_ tuning: RoomTuning) { (self.tuning, exitPrior) = (tuning.floors, tuning.transition.exitPrior) }

    /// Fills `evidence`, and weighs whether the window contradicts the floor of the reported room.
    mutating func weigh(_ tag: inout Tag, _ seen: borrowing Observation, _ site: borrowing Site) {
        addUpFloors(seen, site)
        let best = sums.reduce(-Float.infinity) { max($0, $1.sum) }
        evidence.removeAll(keepingCapacity: true)
        for index in seen.rooms.indices {
            let own = seen.evidence[index]
            guard best > 0, let floor = site.floors.floor(of: seen.rooms[index]) else {
                evidence.append(own)
                continue
            }
            let sum = sums.first { $0.floor == floor }?.sum ?? 1
            evidence.append(own + tuning.floorShare * FixedMath.log(sum / best))
        }
        doubtFloor(of: &tag, seen, site.floors)
    }

    /// Adds up the receivers that heard the tag, by floor. One that only misses it would add nothing.
    private mutating func addUpFloors(_ seen: borrowing Observation, _ site: borrowing Site) {
        sums.removeAll(keepingCapacity: true)
        for gateway in seen.gathered {
            guard let level = seen.window.levels[gateway].dBm, let room = site.gateways[gateway].room,
                let floor = site.floors.floor(of: room)
            else { continue }
            let height = level - site.gateways[gateway].offset - tuning.leastLevel
            let part = FixedMath.exp(height * tuning.floorSlope)
            if let index = sums.firstIndex(where: { $0.floor == floor }) {
                sums[index].sum += part
            } else {
                sums.append((floor, 1 + part))
            }
        }
    }

    /// The stairs do not allow another floor, but the readings may speak for it.
    private func doubtFloor(of tag: inout Tag, _ seen: borrowing Observation, _ floors: Floors) {
        guard let room = tag.room, let floor = floors.floor(of: room) else { return tag.floorDoubt.end() }
        var (own, other) = (-Float.infinity, -Float.infinity)
        for index in seen.rooms.indices {
            switch floors.floor(of: seen.rooms[index]) {
            case floor, nil: own = max(own, evidence[index])
            case .some:
                guard floors.passage(from: room, to: seen.rooms[index]) == .locked else { continue }
                other = max(other, evidence[index])
            }
        }
        tag.floorDoubt.weigh(
            isContradicted: other - own > tuning.contradiction, elapsed: seen.window.elapsed, tuning)
    }

    /// Takes what a change of floors costs, or the stairs do not allow, from the probability of each room that a tag goes there, and leaves
    /// it where it came from.
    ///
    /// - Parameters:
    ///   - arriving: Of each weighed room: the probability that a tag that changes its room goes there.
    ///   - before: The same before the window.
    func keep(
        _ arriving: inout [Float], from before: [Float], of tag: borrowing Tag, _ seen: borrowing Observation,
        _ learned: Table<RoomIndex, RoomKnowledge>, _ site: borrowing Site
    ) {
        let others = Float(max(1, seen.rooms.count - 1))
        let isUnheard = seen.window.elapsed > tuning.stairsSeconds
        for from in seen.rooms.indices where before[from] > 0 {
            let exits = learned[seen.rooms[from]].exits
            let unit = before[from] / (exits.changes + exitPrior)
            for target in seen.rooms.indices where target != from {
                let share: Float
                switch site.floors.passage(from: seen.rooms[from], to: seen.rooms[target]) {
                case .free: continue
                case .costly: share = tuning.changeShare
                case .locked:
                    if tag.floorDoubt.isBroken { continue }
                    share = isUnheard ? tuning.changeShare : 0
                }
                let lost = unit * (exitPrior / others + exits.count(of: seen.rooms[target])) * (1 - share)
                arriving[target] = max(0, arriving[target] - lost)
                arriving[from] += lost
            }
        }
    }
}
