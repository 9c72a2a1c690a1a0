package import SiteProtocol

/// What one gateway's reading of a tag, or its silence, contributes to where the tag is thought to be.
package struct ReadingInfluence: Hashable, Sendable {
    package var gateway: String
    /// dBm, corrected for the tag's power; nil: the gateway listens and does not hear the tag.
    package var level: Float?
    /// The room that it is measured for: the reported one, or the most probable if none is.
    package var room: RoomName
    /// By how much it raises the logarithm of the odds of that room against the best other one in each window; negative if
    /// it speaks against the room.
    package var logOdds: Float
}

extension RoomEngine {
    /// Influences that are shown.
    private static let mostInfluences = 3
    /// A lesser one is no reason: it changes the odds by less than a tenth.
    private static let leastInfluence: Float = 0.1

    /// The readings of the last window with the largest influence on where the tag, given by its position in `tags`, is thought to be; the
    /// largest first. Empty while nothing is to be decided: the tag is away, or fewer than two rooms are possible.
    ///
    /// Each reading is left out once, and the evidence is weighed again. This costs some windows, so it is computed on request.
    package func influences(ofTag tag: Int) -> [ReadingInfluence] {
        guard states.indices.contains(tag), states[tag].isHome, states[tag].judged != .min else { return [] }
        var trial = self
        trial.states = [states[tag]]
        return trial.influences()
    }

    /// Of the only tag of a copy.
    private mutating func influences() -> [ReadingInfluence] {
        let believed = states[0].belief.max { $0.probability < $1.probability }?.room ?? -1
        let room = states[0].room >= 0 ? states[0].room : believed
        gatherLevels(of: 0, now: states[0].judged)
        chooseRooms(for: 0)
        guard scratch.rooms.count >= 2, let place = scratch.rooms.firstIndex(of: room) else { return [] }
        let whole = margin(of: place)
        let heard = states[0].levels
        let nearby = scratch.rooms.flatMap { rooms[Int($0)].gateways }
        var found: [ReadingInfluence] = []
        for gateway in Set(heard.map { Int($0.gateway) } + nearby).sorted() {
            let level = scratch.vector.levels[gateway]
            guard !level.isNaN else { continue }
            states[0].levels.removeAll { Int($0.gateway) == gateway }
            scratch.vector.levels[gateway] = .nan
            let influence = whole - margin(of: place)
            scratch.vector.levels[gateway] = level
            states[0].levels = heard
            guard abs(influence) >= Self.leastInfluence else { continue }
            found.append(
                ReadingInfluence(
                    gateway: gateways[gateway].name, level: level > tuning.missLevel ? level : nil,
                    room: rooms[Int(room)].name, logOdds: influence))
        }
        return Array(
            found.sorted { (abs($0.logOdds), $1.gateway) > (abs($1.logOdds), $0.gateway) }.prefix(Self.mostInfluences))
    }

    /// How far the evidence for a room is ahead of that for the best other one.
    private mutating func margin(of place: Int) -> Float {
        weigh(0)
        let others = scratch.evidence.indices.filter { $0 != place }.map { scratch.evidence[$0] }
        return scratch.evidence[place] - (others.max() ?? 0)
    }
}
