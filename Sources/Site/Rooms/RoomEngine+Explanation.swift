package import Base
package import SiteProtocol

extension RoomEngine {
    /// Whether the tag at an index in `tags` is at home, and its room, as currently decided.
    package func decided(ofTag index: Int) -> (isHome: Bool, room: RoomName?) {
        guard let tag = states.index(at: index) else { return (false, nil) }
        return (states[tag].isHome, plan.name(of: states[tag].room))
    }

    /// When the tag at an index in `tags` sent the latest packet that a gateway heard; nil if none was heard since the start.
    package func latestPacket(ofTag index: Int) -> MonotonicInstant? {
        states.index(at: index).flatMap { states[$0].latestPacket }
    }

    /// The rooms that the tag may be in, with their probabilities.
    package func belief(ofTag index: Int) -> [(room: RoomName, probability: Float)] {
        guard let tag = states.index(at: index) else { return [] }
        return states[tag].belief.rooms.map { (plan.hearing.rooms[$0.room].name, $0.probability) }
    }

    /// Why the tag at an index in `tags` is believed to be where it is.
    package func explanation(ofTag index: Int, at now: MonotonicInstant) -> TagExplanation {
        states.index(at: index).map { TagExplanation($0, states[$0], plan, tuning.report, at: now) }
            ?? TagExplanation()
    }

    /// The silence after which the slowest of its gateways gives up the tag, so that it is away; nil if it is away already.
    ///
    /// It is separate from the explanation, which the page requests for each tag every second, because this visits all tags.
    package func leaveTimeout(ofTag index: Int, at now: MonotonicInstant) -> Duration? {
        guard let tag = states.index(at: index), states[tag].isHome else { return nil }
        return attendance.leaveTimeout(of: states[tag].description, at: now)
    }

    /// The readings of the last window with the largest influence on the room of the tag at an index in `tags`, the largest
    /// first. Empty if nothing is to be decided: the tag is away, or fewer than two rooms are possible. This runs on request.
    package func influences(ofTag index: Int) -> [ReadingInfluence] {
        guard let tag = states.index(at: index), states[tag].isHome, let judged = states[tag].judged else {
            return []
        }
        return ReadingInfluence.found(
            of: states[tag], at: judged, judgement.observation, plan, missLevel: tuning.silence.missLevel)
    }

    /// The rooms that have a gateway, a tag or learned data, sorted by id.
    package var knownRooms: [RoomName] {
        plan.roomNames(areTaken) { !plan.hearing.rooms[$0].gateways.isEmpty }
    }

    /// The same without rooms that are known only by the card of a gateway that does not count. Only these are published.
    package var trustedRooms: [RoomName] { plan.roomNames(areTaken, where: plan.hearing.hasGatewayThatCounts) }

    private var areTaken: Table<RoomIndex, Bool> { states.areInRooms(of: plan.hearing.rooms.count) }
}
