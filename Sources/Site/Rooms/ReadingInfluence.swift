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

    /// Largest number of influences that are shown.
    private static let most = 3
    /// Smaller influences are not shown: they change the odds by about a tenth at most.
    private static let least: Float = 0.1

    /// The readings of a tag's last window with the largest influence on the tag's room, the largest first. Empty if fewer than two rooms
    /// are possible.
    ///
    /// Each reading is left out once, and the evidence is weighed again. This costs several windows, so it runs on request.
    ///
    /// - Parameter judged: When that window was judged.
    static func found(
        of known: Tag, at judged: MonotonicInstant, _ observation: Observation, _ plan: SitePlan, missLevel: Float
    ) -> [ReadingInfluence] {
        let (gateways, rooms, learned) = (plan.hearing.gateways, plan.hearing.rooms, plan.learning.rooms)
        let believed = known.belief.rooms.max { $0.probability < $1.probability }?.room
        var (tag, trial) = (known, observation)
        trial.gather(&tag, gateways, elapsed: tag.movement.interval, at: judged)
        trial.chooseRooms(for: &tag, gateways, rooms, learned, trained: plan.trainedWithoutGateway)
        guard trial.rooms.count >= 2, let room = tag.room ?? believed, let index = trial.rooms.firstIndex(of: room)
        else { return [] }
        let whole = trial.margin(of: index, &tag, gateways, rooms, learned)
        let nearby = trial.rooms.flatMap { rooms[$0].gateways.prefix(Observation.mostSilent) }
        var found: [ReadingInfluence] = []
        for gateway in Set(tag.levels.map(\.gateway) + nearby).sorted() {
            guard let dBm = trial.window.levels[gateway].dBm else { continue }
            var other = tag
            other.forget(gateway)
            let influence = whole - trial.margin(of: index, without: gateway, &other, gateways, rooms, learned)
            guard abs(influence) >= Self.least else { continue }
            found.append(
                ReadingInfluence(
                    gateway: gateways[gateway].name, level: dBm > missLevel ? dBm : nil, room: rooms[room].name,
                    logOdds: influence))
        }
        return Array(
            found.sorted { (abs($0.logOdds), $1.gateway) > (abs($1.logOdds), $0.gateway) }.prefix(Self.most))
    }
}
