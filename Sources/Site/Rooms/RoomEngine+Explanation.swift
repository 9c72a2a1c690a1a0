package import Base
package import SiteProtocol

extension RoomEngine {
    /// The rooms that the tag may be in, with their probabilities.
    package func belief(ofTag position: Int) -> [(room: RoomName, probability: Float)] {
        guard let tag = states.index(at: position) else { return [] }
        return states[tag].belief.rooms.map { (hearing.rooms[$0.room].name, $0.probability) }
    }

    /// Why the tag at a position in `tags` is believed to be where it is.
    package func explanation(ofTag position: Int, at now: MonotonicInstant) -> TagExplanation {
        var explanation = TagExplanation()
        guard let tag = states.index(at: position) else { return explanation }
        let state = states[tag]
        explanation.isHome = state.isHome
        explanation.room = roomName(state.room)
        explanation.since = state.since
        explanation.belief = belief(ofTag: position).sorted {
            ($0.probability, $1.room.id) > ($1.probability, $0.room.id)
        }
        explanation.needed = neededProbability(of: state)
        explanation.levels = state.levels.map { heard in
            let gateway = hearing.gateways[heard.gateway]
            return TagExplanation.Level(
                gateway: gateway.name, room: roomName(gateway.room), level: heard.level,
                at: heard.at, isListening: gateway.isListening)
        }
        explanation.levels.sort { $0.level > $1.level }
        explanation.training = learning.training(of: tag).map { run in
            TagExplanation.Training(
                room: hearing.rooms[run.room].name, began: run.began, until: run.until, learned: run.learned,
                isOver: run.isOver || run.until <= now)
        }
        return explanation
    }

    /// The silence after which the slowest of its gateways gives the tag up, so that it is away; nil if it is away already.
    ///
    /// It is separate from the explanation, which the page requests for each tag every second, because this visits all tags.
    package func leaveTimeout(ofTag position: Int, at now: MonotonicInstant) -> Duration? {
        guard let tag = states.index(at: position), states[tag].isHome else { return nil }
        return presence.leaveTimeout(of: states[tag].description, at: now)
    }

    /// The probability needed for a report. Training lowers it in proportion to its share of what was learned.
    private func neededProbability(of tag: Tag) -> Float {
        tuning.report.neededProbability(labelledShare: learning.labelledShare(of: tag.belief.rooms.map(\.room)))
    }

    /// Whether the gateway's room is known.
    package func hasRoom(gateway: String) -> Bool { roomID(ofGateway: gateway) != nil }

    /// The id of the gateway's room; nil if unknown.
    package func roomID(ofGateway gateway: String) -> String? {
        guard let index = hearing.gateway(named: gateway) else { return nil }
        return roomName(hearing.gateways[index].room)?.id
    }

    /// The names of the gateways in the room with a form of this name.
    package func gateways(in room: RoomName) -> [String] {
        hearing.roomIndices[room].map { hearing.rooms[$0].gateways.map { hearing.gateways[$0].name } } ?? []
    }

    /// Gateways in the order in which they appeared, without those that have no room and do not listen.
    package var gatewayReports: [GatewayReport] {
        hearing.gateways.elements.compactMap { GatewayReport($0, in: roomName($0.room)) }
    }

    /// Rooms in the order in which they appeared.
    package var roomReports: [RoomReport] {
        hearing.rooms.indices.map { index in
            let names = hearing.rooms[index].gateways.map { hearing.gateways[$0].name }
            return RoomReport(hearing.rooms[index].name, names, learning.rooms[index])
        }
    }

    // MARK: Reasons

    /// The readings of the last window with the largest influence on the room of the tag at a position in `tags`, the largest
    /// first. Empty if nothing is to be decided: the tag is away, or fewer than two rooms are possible. This runs on request.
    package func influences(ofTag position: Int) -> [ReadingInfluence] {
        guard let tag = states.index(at: position), states[tag].isHome, let judged = states[tag].judged else {
            return []
        }
        return ReadingInfluence.found(
            of: states[tag], at: judged, observation, hearing, learning.rooms, missLevel: tuning.silence.missLevel)
    }

    /// With which rooms a trained room is mistaken; nil if nothing was trained in the room. This runs on request.
    package func confusion(ofRoom id: String) -> RoomConfusion? {
        hearing.roomIndices[id: id].flatMap {
            RoomConfusion(
                of: $0, learning.rooms, names: hearing.rooms, gateways: hearing.gateways.count, tuning)
        }
    }
}
