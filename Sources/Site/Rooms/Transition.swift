import Base

/// How a belief changes from one window to the next: the forward step of a hidden Markov model. Its states are the rooms, and its
/// observations the windows.
///
/// All windows share its memory, so that none of them allocates.
struct Transition: Sendable {
    /// Of each weighed room: its probability before the window, and the probability that a tag that changes its room now goes there.
    private var before: [Float] = []
    private var arriving: [Float] = []
    private var after: [RoomBelief] = []
    private var floorRule: FloorRule
    private let tuning: RoomTuning

    init(_ tuning: RoomTuning) { (self.tuning, floorRule) = (tuning, FloorRule(tuning)) }

    /// Updates the belief of a tag with the evidence of a window. Tags change rooms now and then.
    ///
    /// - Parameters:
    ///   - learned: What was learned of each room.
    ///   - floors: Where each room is; empty: no floor is known.
    @inline(__always)
    mutating func advance(
        _ tag: inout Tag, _ seen: borrowing Observation, _ learned: Table<RoomIndex, RoomKnowledge>,
        _ floors: Table<RoomIndex, Floors.Place>, _ gateways: Table<GatewayIndex, GatewayState>,
        at now: MonotonicInstant
    ) {
        let elapsed = seen.window.elapsed
        let count = Float(seen.rooms.count)
        let rest = tag.movement.restReports(in: seen.window, at: now, tuning)
        let moved = 1 - FixedMath.exp(-elapsed / meanStay(of: tag, atRestFor: rest, at: now))
        let packets = Float(seen.window.packets)
        let weight =
            Movement.worth(atRestFor: rest, labelledShare: seen.labelledShare, tuning.movement)
            * countedSeconds(of: tag, seen, at: now) * packets / (packets + tuning.transition.packetDoubt)
        if !floors.isEmpty { floorRule.weigh(&tag, seen, floors, gateways) }
        let weighed = floors.isEmpty ? seen.evidence : floorRule.evidence
        let best = weighed.max() ?? 0
        let reported = tag.room.flatMap { seen.rooms.firstIndex(of: $0) }.map { weighed[$0] }
        after.resize(to: seen.rooms.count, RoomBelief(room: RoomIndex(number: 0), support: 0, probability: 0))
        var sum: Float = 0
        before.fill(to: seen.rooms.count, 0) { tag.belief.probability(of: seen.rooms[$0]) }
        // Nothing was believed yet, or the gateways of all rooms that were believed in are gone.
        if !before.contains(where: { $0 > 0 }) {
            for index in before.indices { before[index] = 1 / count }
        }
        weighArrivals(in: seen.rooms, learned)
        if !floors.isEmpty { floorRule.keep(&arriving, from: before, of: tag, seen, learned) }
        for index in seen.rooms.indices {
            let room = seen.rooms[index]
            let prior = before[index] * (1 - moved) + moved * arriving[index]
            let evidence = max(weighed[index] - best, -tuning.transition.windowCap) * weight
            let probability = prior * FixedMath.exp(evidence)
            sum += probability
            let speaks = reported.map { weighed[index] > $0 } ?? true
            let support = speaks ? min(tag.belief.support(of: room), 100) + (seen.window.isLoudestNew ? 1 : 0) : 0
            after[index] = RoomBelief(room: room, support: support, probability: probability)
        }
        guard sum > 0 else { return }
        for index in after.indices { after[index].probability /= sum }
        if after.count > Tag.mostRooms {
            after.sort { ($0.probability, $1.room) > ($1.probability, $0.room) }
            after.removeLast(after.count - Tag.mostRooms)
        }
        tag.belief.replace(by: after)
    }

    /// Fills `arriving`. Without learned moves, all rooms are equally probable.
    private mutating func weighArrivals(in rooms: [RoomIndex], _ learned: Table<RoomIndex, RoomKnowledge>) {
        let others = Float(max(1, rooms.count - 1))
        let exitPrior = tuning.transition.exitPrior
        arriving.resize(to: rooms.count, 0)
        for index in arriving.indices { arriving[index] = 0 }
        var common: Float = 0
        for index in rooms.indices {
            let before = before[index]
            let changes = learned[rooms[index]].exits.changes
            let unit = before / (changes + exitPrior)
            common += unit * exitPrior / others
            arriving[index] -= unit * exitPrior / others
            guard changes > 0 else { continue }
            for exit in learned[rooms[index]].exits.exits {
                guard let target = rooms.firstIndex(of: exit.room) else { continue }
                arriving[target] += unit * exit.count
            }
        }
        for index in rooms.indices { arriving[index] = max(0, arriving[index] + common) }
    }

    /// The seconds that the window counts for: at most one for a quick beacon, and more for a packet of a slow one, which repeats less of
    /// the packet before. The part above one second shrinks with the time in the room and with what was learned with labels. Messages of
    /// nodes have no such part: a node smooths the level over several packets.
    @inline(__always)
    private func countedSeconds(of tag: borrowing Tag, _ seen: borrowing Observation, at now: MonotonicInstant) -> Float
    {
        let elapsed = seen.window.elapsed
        guard elapsed > 1, seen.window.isHeardByGateway else { return min(1, elapsed) }
        let further = min(elapsed, tuning.transition.mostWindowSeconds) - 1
        let stay = tag.secondsInRoom(at: now) ?? 0
        let fresh = tuning.transition.freshStaySeconds
        return 1 + further * (1 - seen.labelledShare) * fresh / (fresh + stay)
    }

    /// Mean seconds until a tag changes its room. A tag that has been in one room for long is likely to stay: stays of people
    /// and things have no typical length. A tag that lies still is even more likely to, and one that has just moved is not.
    @inline(__always)
    private func meanStay(of tag: borrowing Tag, atRestFor reports: Float, at now: MonotonicInstant) -> Float {
        guard reports > 0, let stay = tag.secondsInRoom(at: now) else { return tuning.transition.staySeconds }
        let rest = tag.movement.restSeconds(at: now) * tuning.transition.restStayShare
        return min(
            tuning.transition.longestStaySeconds,
            max(tuning.transition.staySeconds, stay * tuning.transition.stayShare, rest))
    }
}
