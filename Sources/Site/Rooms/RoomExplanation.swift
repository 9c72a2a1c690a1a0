package import Base
import Presence
package import SiteProtocol

/// What is known of one tag, and why it is thought to be where it is.
package struct TagExplanation: Sendable {
    /// What one gateway last heard of the tag.
    package struct Level: Sendable {
        package var gateway: String
        /// Where the gateway stands; nil: it has not said.
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
    /// Since when the above holds; nil: not since this start.
    package var since: MonotonicInstant?
    /// The most probable room first; the sum is 1, or there are none.
    package var belief: [(room: RoomName, probability: Float)] = []
    /// The probability from which a room is reported.
    package var needed: Float = 1
    /// The strongest first.
    package var levels: [Level] = []
    package var training: Training?
}

/// What is known of one gateway.
package struct GatewayReport: Sendable {
    package var name: String
    /// Where it stands; nil: it has not said.
    package var room: RoomName?
    /// Whether its silence about a tag says something: it is there, and listens.
    package var isListening: Bool
    /// nil: it has sent no readings since the start.
    package var lastMessage: MonotonicInstant?
}

/// What is known of one room.
package struct RoomReport: Sendable {
    package var name: RoomName
    package var gateways: [String]
    /// Seconds that are remembered of training runs, and of the engine's own decisions.
    package var labelledSeconds: Float
    package var ownSeconds: Float
}

extension RoomEngine {
    /// The rooms that the tag may be in, with their probabilities.
    package func belief(ofTag tag: Int) -> [(room: RoomName, probability: Float)] {
        guard states.indices.contains(tag) else { return [] }
        return states[tag].belief.map { (rooms[Int($0.room)].name, $0.probability) }
    }

    /// Why the tag, given by its position in `tags`, is thought to be where it is.
    package func explanation(ofTag tag: Int, at now: MonotonicInstant) -> TagExplanation {
        var explanation = TagExplanation()
        guard states.indices.contains(tag) else { return explanation }
        let state = states[tag]
        explanation.isHome = state.isHome
        explanation.room = roomName(state.room)
        explanation.since = state.since == 0 ? nil : MonotonicInstant(nanoseconds: state.since)
        explanation.belief = belief(ofTag: tag).sorted { ($0.probability, $1.room.id) > ($1.probability, $0.room.id) }
        explanation.needed = neededProbability(of: state)
        explanation.levels = state.levels.map { heard in
            let gateway = gateways[Int(heard.gateway)]
            return TagExplanation.Level(
                gateway: gateway.name, room: roomName(gateway.room), level: heard.level,
                at: MonotonicInstant(nanoseconds: heard.at), isListening: gateway.isListening)
        }
        explanation.levels.sort { $0.level > $1.level }
        explanation.training = trainings[tag].map { run in
            TagExplanation.Training(
                room: rooms[Int(run.room)].name, began: MonotonicInstant(nanoseconds: run.began),
                until: MonotonicInstant(nanoseconds: run.until), learned: run.learned,
                isOver: run.isOver || run.until <= now.nanoseconds)
        }
        return explanation
    }

    /// The silence after which the slowest of its gateways gives the tag up, and it is away; nil: it is away.
    ///
    /// It stands apart from the explanation, which the page makes of each tag every second: this one visits all tags.
    package func leaveTimeout(ofTag tag: Int, at now: MonotonicInstant) -> Duration? {
        guard states.indices.contains(tag), states[tag].isHome else { return nil }
        let region = RegionKey(tracker: tag, rid: states[tag].description.id)
        return presence.explain(region, at: now).filter(\.isNear).flatMap(\.links).map(\.leaveTimeout).max()
    }

    /// Where people trained, less is needed, in proportion to their part in what was learned.
    private func neededProbability(of tag: Tag) -> Float {
        var labelled: Float = 0
        var all: Float = 0
        for belief in tag.belief {
            let room = rooms[Int(belief.room)]
            labelled += room.labelled.seconds * tuning.labelWorth
            all += room.labelled.seconds * tuning.labelWorth + room.own.seconds
        }
        let share = labelled / max(1, all)
        return tuning.reportProbability + (tuning.labelledReportProbability - tuning.reportProbability) * share
    }
}

extension RoomEngine {
    /// Whether it is known where the gateway stands.
    package func hasRoom(gateway: String) -> Bool { roomID(ofGateway: gateway) != nil }

    /// The id of the room that the gateway stands in.
    package func roomID(ofGateway gateway: String) -> String? {
        guard let place = gatewayPlaces[gateway], gateways[place].room >= 0 else { return nil }
        return rooms[Int(gateways[place].room)].name.id
    }

    /// Gateways in the order in which they came, without those that were forgotten and say nothing.
    package var gatewayReports: [GatewayReport] {
        gateways.compactMap { gateway in
            guard gateway.room >= 0 || gateway.isListening else { return nil }
            return GatewayReport(
                name: gateway.name, room: roomName(gateway.room), isListening: gateway.isListening,
                lastMessage: gateway.lastMessage == .min ? nil : MonotonicInstant(nanoseconds: gateway.lastMessage))
        }
    }

    /// Rooms in the order in which they came.
    package var roomReports: [RoomReport] {
        rooms.map { room in
            RoomReport(
                name: room.name, gateways: room.gateways.map { gateways[$0].name },
                labelledSeconds: room.labelled.seconds, ownSeconds: room.own.seconds)
        }
    }
}
