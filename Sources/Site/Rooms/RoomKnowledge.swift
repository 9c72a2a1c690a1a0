/// What was learned of one room.
struct RoomKnowledge: Sendable {
    /// From training runs, and from the engine's own decisions.
    var labelled = RoomFingerprints()
    var own = RoomLevels()
    /// From what gateways hear of each other. It is not stored with the rest: the survey has it.
    var surveyed = SurveyedRoom()
    /// The mean probability, 0 … 1, that the levels alone gave to the room while it was trained.
    var placed: Float = 0
    /// Seconds of training from before the room's gateways changed, about which `placed` says nothing. They are not stored: after a restart
    /// `placed` changes more slowly.
    var unplacedSeconds: Float = 0
    /// Where tags came from and went to.
    var exits = RoomExits()
    /// What was forgotten because a gateway of the room named another one, until it is known whether it was carried there.
    var aside: Aside?

    struct Aside: Sendable {
        var placed: Float
        var exits: RoomExits
    }

    /// The seconds of training of which `placed` is the mean.
    func placedSeconds(_ tuning: LearningTuning) -> Float {
        min(labelled.seconds, max(tuning.leastPlacedSeconds, labelled.seconds - unplacedSeconds))
    }

    var isLearned: Bool { labelled.count > 0 || own.seconds > 0 }

    /// Forgets the engine's own decisions, and how well the levels alone fitted the training: the room has other gateways now.
    mutating func forgetDecisions() {
        own.removeAll()
        placed = 0
        unplacedSeconds = labelled.seconds
    }

    mutating func removeAll() { self = RoomKnowledge() }
}
