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
}

/// What is known about one gateway.
package struct GatewayReport: Sendable {
    package var name: String
    /// Its room; nil if unknown.
    package var room: RoomName?
    /// Whether its silence about a tag is evidence: it is connected and listening.
    package var isListening: Bool
    /// nil if it has sent no message since the start.
    package var lastMessage: MonotonicInstant?
}

/// What is known about one room.
package struct RoomReport: Sendable {
    package var name: RoomName
    package var gateways: [String]
    /// Seconds that are remembered of training runs, and of the engine's own decisions.
    package var labelledSeconds: Float
    package var ownSeconds: Float
}

extension RoomEngine {
    /// The rooms that the tag may be in, with their probabilities.
    package func belief(ofTag position: Int) -> [(room: RoomName, probability: Float)] {
        guard let tag = states.index(at: position) else { return [] }
        return states[tag].belief.map { (rooms[$0.room].name, $0.probability) }
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
            let gateway = gateways[heard.gateway]
            return TagExplanation.Level(
                gateway: gateway.name, room: roomName(gateway.room), level: heard.level,
                at: heard.at, isListening: gateway.isListening)
        }
        explanation.levels.sort { $0.level > $1.level }
        explanation.training = trainings[tag].map { run in
            TagExplanation.Training(
                room: rooms[run.room].name, began: run.began, until: run.until, learned: run.learned,
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
        var labelled: Float = 0
        var all: Float = 0
        for belief in tag.belief {
            let room = rooms[belief.room]
            labelled += room.labelled.seconds * tuning.labelWorth
            all += room.labelled.seconds * tuning.labelWorth + room.own.seconds
        }
        let share = labelled / max(1, all)
        return tuning.reportProbability + (tuning.labelledReportProbability - tuning.reportProbability) * share
    }
}

extension RoomEngine {
    /// Whether the gateway's room is known.
    package func hasRoom(gateway: String) -> Bool { roomID(ofGateway: gateway) != nil }

    /// The id of the gateway's room; nil if unknown.
    package func roomID(ofGateway gateway: String) -> String? {
        guard let index = gatewayIndices[gateway], let room = gateways[index].room else { return nil }
        return rooms[room].name.id
    }

    /// The names of the gateways in the room with this id.
    package func gateways(inRoom id: String) -> [String] {
        roomIndices[id].map { rooms[$0].gateways.map { gateways[$0].name } } ?? []
    }

    /// Gateways in the order in which they appeared, without those that have no room and do not listen.
    package var gatewayReports: [GatewayReport] {
        gateways.elements.compactMap { gateway in
            guard gateway.room != nil || gateway.isListening else { return nil }
            return GatewayReport(
                name: gateway.name, room: roomName(gateway.room), isListening: gateway.isListening,
                lastMessage: gateway.lastMessage)
        }
    }

    /// Rooms in the order in which they appeared.
    package var roomReports: [RoomReport] {
        rooms.elements.map { room in
            RoomReport(
                name: room.name, gateways: room.gateways.map { gateways[$0].name },
                labelledSeconds: room.labelled.seconds, ownSeconds: room.own.seconds)
        }
    }
}
