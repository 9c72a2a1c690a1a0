import SiteProtocol

/// A room as the engine knows it.
struct Room: Sendable {
    var name: RoomName
    /// What was learned from training runs, and from the engine's own decisions.
    var labelled = RoomFingerprints()
    var own = RoomLevels()
    /// The mean probability, 0 … 1, that the levels alone gave to the room while it was trained.
    var placed: Float = 0
    /// Seconds of training from before the room's gateways changed, of which `placed` says nothing. They are not stored: after a restart
    /// `placed` changes more slowly.
    var unplacedSeconds: Float = 0
    /// The gateways in the room.
    var gateways: [GatewayIndex] = []
    /// Where tags came from and went to.
    var exits = RoomExits()

    /// After the gateways changed, `placed` is a mean over so many seconds at least: fingerprints are replaced, and their seconds go.
    private static let leastPlacedSeconds: Float = 30

    /// The seconds of training of which `placed` is the mean.
    var placedSeconds: Float { min(labelled.seconds, max(Self.leastPlacedSeconds, labelled.seconds - unplacedSeconds)) }

    var isLearned: Bool { labelled.count > 0 || own.seconds > 0 }
}
