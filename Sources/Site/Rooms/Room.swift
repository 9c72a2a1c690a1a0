import SiteProtocol

/// A room as the engine knows it.
struct Room: Sendable {
    var name: RoomName
    /// What was learned from training runs, and from the engine's own decisions.
    var labelled = RoomFingerprints()
    var own = RoomLevels()
    /// The gateways in the room.
    var gateways: [GatewayIndex] = []
    /// Where tags came from and went to.
    var exits = RoomExits()

    var isLearned: Bool { labelled.count > 0 || own.seconds > 0 }
}
