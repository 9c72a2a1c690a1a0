package import SiteProtocol

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
