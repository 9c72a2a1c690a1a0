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
        var sums = FloorSums(tuning)
        addUpFloors(seen, floors, gateways, &sums)
        let first = seen.rooms.first.map { floors[place: $0].floor }
        var areApart = false
        places.fill(to: seen.rooms.count, Floors.Place()) { index in
            let place = floors[place: seen.rooms[index]]
            if place.floor != first { areApart = true }
            return place
        }
        self.areApart = areApart
        sums.add(to: seen.evidence, of: places, into: &evidence)
        doubtFloor(of: &tag, seen, floors)
    }

    /// Adds up the receivers that heard the tag, by floor. One that only misses it would add nothing.
    @inline(__always)
    private func addUpFloors(
        _ seen: borrowing Observation, _ floors: Table<RoomIndex, Floors.Place>,
        _ gateways: Table<GatewayIndex, GatewayState>, _ sums: inout FloorSums
    ) {
        for index in seen.gathered.indices {
            let gateway = seen.gathered[index]
            guard let level = seen.window.levels[gateway].dBm, let room = gateways[gateway].room,
                floors[place: room].isKnown
            else { continue }
            sums.add(level - gateways[gateway].offset, on: floors[place: room].floor)
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
                if evidence[index] > own { own = evidence[index] }
            } else if place.passage(to: places[index]) == .locked {
                if evidence[index] > other { other = evidence[index] }
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
        let evenly = exitPrior / Float(max(1, places.count - 1))
        let isBroken = tag.floorDoubt.isBroken
        let costly = 1 - tuning.changeShare
        let locked = seen.window.elapsed > tuning.stairsSeconds ? costly : 1
        var arriving = arriving.mutableSpan
        for from in places.indices where before[from] > 0 && places[from].isKnown {
            let place = places[from]
            let room = seen.rooms[from]
            let unit = before[from] / (learned[room].exits.changes + exitPrior)
            let even = unit * evenly
            let areExitsKnown = !learned[room].exits.exits.isEmpty
            var staying = arriving[from]
            for target in places.indices where places[target].floor != place.floor {
                let share: Float
                switch place.passage(to: places[target]) {
                case .free: continue
                case .costly: share = costly
                case .locked:
                    if isBroken { continue }
                    share = locked
                }
                let going = areExitsKnown ? unit * (evenly + learned[room].exits.count(of: seen.rooms[target])) : even
                let lost = going * share
                let left = arriving[target] - lost
                arriving[target] = left > 0 ? left : 0
                staying += lost
            }
            arriving[from] = staying
        }
    }
}
