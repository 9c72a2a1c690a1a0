/// What is known of floors changes a belief: the receivers of a floor add up, and the floor is changed at the stairs.
///
/// All windows share its memory, so that none of them allocates.
struct FloorRule: Sendable {
    /// The log likelihood of each weighed room, with what all receivers of its floor say.
    private(set) var evidence: [Float] = []
    /// Of each weighed room.
    private var places: [Floors.Place] = []
    /// Whether they are on several floors.
    private var areApart = false
    /// Of each floor that hears the tag: what its receivers add up to, and what that adds to the log likelihood of its rooms.
    private var sums: [(floor: Int16, sum: Float, worth: Float)] = []
    private let tuning: FloorTuning
    private let exitPrior: Float

    init(_ tuning: RoomTuning) { (self.tuning, exitPrior) = (tuning.floors, tuning.transition.exitPrior) }

    /// Fills `evidence`, and weighs whether the window contradicts the floor of the reported room.
    ///
    /// - Parameter floors: Where each room of the site is.
    mutating func weigh(
        _ tag: inout Tag, _ seen: borrowing Observation, _ floors: Table<RoomIndex, Floors.Place>,
        _ gateways: Table<GatewayIndex, GatewayState>
    ) {
        addUpFloors(seen, floors, gateways)
        var best = -Float.infinity
        for index in sums.indices { best = max(best, sums[index].sum) }
        for index in sums.indices { sums[index].worth = worth(sums[index].sum, best) }
        evidence.resize(to: seen.rooms.count, 0)
        places.resize(to: seen.rooms.count, Floors.Place())
        areApart = false
        var first = Floors.Place.unknown
        for index in seen.rooms.indices {
            let place = floors[place: seen.rooms[index]]
            places[index] = place
            evidence[index] = seen.evidence[index]
            guard place.isKnown else { continue }
            if first != place.floor, first != Floors.Place.unknown { areApart = true }
            first = place.floor
            if let heard = sums.firstIndex(where: { $0.floor == place.floor }) {
                evidence[index] += sums[heard].worth
            } else if best > 0 {
                // A floor that does not hear the tag.
                evidence[index] += worth(1, best)
            }
        }
        doubtFloor(of: &tag, seen, floors)
    }

    /// What the receivers of a floor add to the log likelihood of its rooms.
    private func worth(_ sum: Float, _ best: Float) -> Float {
        sum == best ? 0 : tuning.floorShare * FixedMath.log(sum / best)
    }

    /// Adds up the receivers that heard the tag, by floor. One that only misses it would add nothing.
    private mutating func addUpFloors(
        _ seen: borrowing Observation, _ floors: Table<RoomIndex, Floors.Place>,
        _ gateways: Table<GatewayIndex, GatewayState>
    ) {
        sums.removeAll(keepingCapacity: true)
        for index in seen.gathered.indices {
            let gateway = seen.gathered[index]
            guard let level = seen.window.levels[gateway].dBm, let room = gateways[gateway].room,
                floors[place: room].isKnown
            else { continue }
            let floor = floors[place: room].floor
            let height = level - gateways[gateway].offset - tuning.leastLevel
            let part = FixedMath.exp(height * tuning.floorSlope)
            if let index = sums.firstIndex(where: { $0.floor == floor }) {
                sums[index].sum += part
            } else {
                sums.append((floor, 1 + part, 0))
            }
        }
    }

    /// The stairs do not allow another floor, but the readings may speak for it.
    ///
    /// It changes nothing here, but otherwise the call would copy the rule.
    private mutating func doubtFloor(
        of tag: inout Tag, _ seen: borrowing Observation, _ floors: Table<RoomIndex, Floors.Place>
    ) {
        guard let room = tag.room, floors[place: room].isKnown else { return tag.floorDoubt.end() }
        let place = floors[place: room]
        var (own, other) = (-Float.infinity, -Float.infinity)
        for index in places.indices {
            if !places[index].isKnown || places[index].floor == place.floor {
                own = max(own, evidence[index])
            } else if place.passage(to: places[index]) == .locked {
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
        _ learned: Table<RoomIndex, RoomKnowledge>
    ) {
        guard areApart else { return }
        let others = Float(max(1, places.count - 1))
        let isUnheard = seen.window.elapsed > tuning.stairsSeconds
        let isBroken = tag.floorDoubt.isBroken
        var arriving = arriving.mutableSpan
        for from in places.indices where before[from] > 0 && places[from].isKnown {
            let place = places[from]
            let room = seen.rooms[from]
            let unit = before[from] / (learned[room].exits.changes + exitPrior)
            let areExitsKnown = !learned[room].exits.exits.isEmpty
            for target in places.indices where target != from {
                let share: Float
                switch place.passage(to: places[target]) {
                case .free: continue
                case .costly: share = tuning.changeShare
                case .locked:
                    if isBroken { continue }
                    share = isUnheard ? tuning.changeShare : 0
                }
                let count = areExitsKnown ? learned[room].exits.count(of: seen.rooms[target]) : 0
                let lost = unit * (exitPrior / others + count) * (1 - share)
                arriving[target] = max(0, arriving[target] - lost)
                arriving[from] += lost
            }
        }
    }
}
