import SiteProtocol

/// A room as the engine knows it.
struct Room: Sendable {
    var name: RoomName
    /// What was learned from training runs, and from the engine's own decisions.
    var labelled = RoomFingerprints()
    var own = RoomLevels()
    /// The mean probability, 0 … 1, that the levels alone gave to the room while it was trained.
    var placed: Float = 0
    /// Seconds of training from before the gateways of the room changed: `placed` is not of them.
    var unplacedSeconds: Float = 0
    /// The gateways in the room.
    var gateways: [GatewayIndex] = []
    /// Where tags came from and went to.
    var exits = RoomExits()

    var isLearned: Bool { labelled.count > 0 || own.seconds > 0 }
}
