import Base
package import SiteProtocol

/// What one gateway's reading of a tag, or its silence, contributes to the decision about the tag's room.
package struct ReadingInfluence: Hashable, Sendable {
    package var gateway: String
    /// dBm, corrected for the tag's power; nil if the gateway listens and does not hear the tag.
    package var level: Float?
    /// The room for which it is measured: the reported one, otherwise the most probable one.
    package var room: RoomName
    /// How much it raises the log odds of that room against the best other one in each window; negative if it speaks against
    /// the room.
    package var logOdds: Float
}

extension RoomEngine {
    /// Largest number of influences that are shown.
    private static let mostInfluences = 3
    /// Smaller influences are not shown: they change the odds by about a tenth at most.
    private static let leastInfluence: Float = 0.1

    /// The readings of the last window with the largest influence on the room of the tag at a position in `tags`, the largest
    /// first. Empty if nothing is to be decided: the tag is away, or fewer than two rooms are possible.
    ///
    /// Each reading is left out once, and the evidence is weighed again. This costs several windows, so it runs on request.
    package func influences(ofTag position: Int) -> [ReadingInfluence] {
        guard let tag = states.index(at: position), states[tag].isHome, let judged = states[tag].judged else {
            return []
        }
        var trial = self
        trial.states = Table([states[tag]])
        return trial.influences(of: TagIndex(position: 0), at: judged)
    }

    /// The influences on the only tag of this copy.
    private mutating func influences(of tag: TagIndex, at judged: MonotonicInstant) -> [ReadingInfluence] {
        let believed = states[tag].belief.max { $0.probability < $1.probability }?.room
        // Until now it is that of the latest window of any tag.
        scratch.vector.elapsed = states[tag].interval
        gatherLevels(of: tag, now: judged)
        chooseRooms(for: tag)
        guard scratch.rooms.count >= 2, let room = states[tag].room ?? believed,
            let place = scratch.rooms.firstIndex(of: room)
        else { return [] }
        let whole = margin(of: place, tag)
        let heard = states[tag].levels
        let nearby = scratch.rooms.flatMap { rooms[$0].gateways.prefix(Self.mostSilent) }
        var found: [ReadingInfluence] = []
        for gateway in Set(heard.map(\.gateway) + nearby).sorted() {
            let level = scratch.vector.levels[gateway]
            guard let dBm = level.dBm else { continue }
            states[tag].levels.removeAll { $0.gateway == gateway }
            scratch.vector.levels[gateway] = .none
            let influence = whole - margin(of: place, tag)
            scratch.vector.levels[gateway] = level
            states[tag].levels = heard
            guard abs(influence) >= Self.leastInfluence else { continue }
            found.append(
                ReadingInfluence(
                    gateway: gateways[gateway].name, level: dBm > tuning.missLevel ? dBm : nil, room: rooms[room].name,
                    logOdds: influence))
        }
        return Array(
            found.sorted { (abs($0.logOdds), $1.gateway) > (abs($1.logOdds), $0.gateway) }.prefix(Self.mostInfluences))
    }

    /// How far the evidence for a room exceeds that for the best other room.
    private mutating func margin(of place: Int, _ tag: TagIndex) -> Float {
        weigh(tag)
        let others = scratch.evidence.indices.filter { $0 != place }.map { scratch.evidence[$0] }
        return scratch.evidence[place] - (others.max() ?? 0)
    }
}
