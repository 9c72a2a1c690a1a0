package import Base
package import SiteProtocol

/// What is known about one tag, and why it is believed to be where it is.
package struct TagExplanation: Sendable {
    /// What one gateway last heard of the tag.
    package struct Level: Sendable {
        package var gateway: String
        /// The gateway's room; nil if unknown.
        package var room: RoomName?
        /// dBm, corrected for the tag's power.
        package var level: Float
        package var at: MonotonicInstant
        /// Whether the gateway's silence would count.
        package var isListening: Bool
    }

    /// The latest training run with the tag.
    package struct Training: Sendable {
        package var room: RoomName
        package var began: MonotonicInstant
        package var until: MonotonicInstant
        /// Seconds in which the tag was heard, and learned.
        package var learned: Float
        package var isOver: Bool
    }

    package var isHome = false
    /// The room that is reported.
    package var room: RoomName?
    /// Since when the above applies; nil if it was not decided since this start.
    package var since: MonotonicInstant?
    /// The most probable room first. The probabilities add up to 1 unless the list is empty.
    package var belief: [(room: RoomName, probability: Float)] = []
    /// The probability from which a room is reported.
    package var needed: Float = 1
    /// The strongest first.
    package var levels: [Level] = []
    package var training: Training?

    init() {}

    init(_ tag: TagIndex, _ state: Tag, _ plan: SitePlan, _ tuning: ReportTuning, at now: MonotonicInstant) {
        isHome = state.isHome
        room = plan.name(of: state.room)
        since = state.since
        belief = state.belief.rooms.map { (plan.hearing.rooms[$0.room].name, $0.probability) }
        belief.sort { ($0.probability, $1.room.id) > ($1.probability, $0.room.id) }
        // Training lowers it in proportion to its share of what was learned.
        needed = tuning.neededProbability(
            labelledShare: plan.learning.labelledShare(of: state.belief.rooms.map(\.room)))
        levels = state.levels.map { heard in
            let gateway = plan.hearing.gateways[heard.gateway]
            return Level(
                gateway: gateway.name, room: plan.name(of: gateway.room), level: heard.level, at: heard.at,
                isListening: gateway.isListening)
        }
        levels.sort { $0.level > $1.level }
        training = plan.learning.training(of: tag).map { run in
            Training(
                room: plan.hearing.rooms[run.room].name, began: run.began, until: run.until, learned: run.learned,
                isOver: run.isOver || run.until <= now)
        }
    }
}
