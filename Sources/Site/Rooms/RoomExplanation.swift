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

    /// nil for a gateway that has no room and does not listen.
    init?(_ gateway: GatewayState, in room: RoomName?) {
        guard room != nil || gateway.isListening else { return nil }
        (name, self.room) = (gateway.name, room)
        (isListening, lastMessage) = (gateway.isListening, gateway.lastMessage)
    }
}

/// What is known about one room.
package struct RoomReport: Sendable {
    package var name: RoomName
    package var gateways: [String]
    /// Seconds that are remembered of training runs, and of the engine's own decisions.
    package var labelledSeconds: Float
    package var ownSeconds: Float

    init(_ name: RoomName, _ gateways: [String], _ learned: RoomKnowledge) {
        (self.name, self.gateways) = (name, gateways)
        (labelledSeconds, ownSeconds) = (learned.labelled.seconds, learned.own.seconds)
    }
}
