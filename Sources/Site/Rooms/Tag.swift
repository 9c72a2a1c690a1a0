import Base
package import Regions

/// A tag as the engine is told of it.
package struct TagDescription: Hashable, Sendable {
    /// Permanent; a topic level.
    package var id: String
    package var name: String
    package var pattern: BeaconPattern

    package init(id: String, name: String, pattern: BeaconPattern) {
        self.id = id
        self.name = name
        self.pattern = pattern
    }
}

/// What one gateway last heard of a tag.
struct HeardLevel: Sendable, BitwiseCopyable {
    var gateway: GatewayIndex
    /// Packets of the second.
    var packets: Int16
    /// dBm, corrected for the tag's power.
    var level: Float
    var at: MonotonicInstant
}

/// A room and its probability.
struct RoomBelief: Sendable, BitwiseCopyable {
    var room: RoomIndex
    /// Readings in a row that speak for it rather than for the room that is reported; at most 101.
    var support: Int16
    var probability: Float
}

/// A training run.
struct TrainingRun: Sendable, BitwiseCopyable {
    var began: MonotonicInstant
    var until: MonotonicInstant
    /// Seconds in which the tag was heard, and learned.
    var learned: Float = 0
    var room: RoomIndex
    /// It ended early, or a window came after its end.
    var isOver = false

    /// What was heard in the second before the training began, perhaps elsewhere, arrives until then.
    var learnsFrom: MonotonicInstant { began.advanced(by: .milliseconds(1100)) }
}

/// A tag as the engine knows it. The narrow values are the last: so it takes less memory.
struct Tag: Sendable {
    /// Gateways that are told apart for one tag; the weakest gives way.
    static let mostLevels = 12
    /// Rooms that are told apart for one tag; the least probable gives way.
    static let mostRooms = 8

    var description: TagDescription
    /// Sorted by gateway.
    var levels: [HeardLevel] = []
    /// The sum is 1, or there are none.
    var belief: [RoomBelief] = []
    /// Since when `room` and `isHome` are reported; nil: not since this start.
    var since: MonotonicInstant?
    /// The last window; nil: none since the tag came home.
    var judged: MonotonicInstant?
    /// When it sent its latest packet; nil: none yet.
    var latestPacket: MonotonicInstant?
    var isHome = false
    /// Whether a window is open.
    var isPending = false
    /// Its last windows; nil: it is not learned from.
    var learner: LearnerIndex?
    /// The room that is reported.
    var room: RoomIndex?

    init(_ description: TagDescription) { self.description = description }

    func probability(of room: RoomIndex) -> Float {
        belief.first { $0.room == room }?.probability ?? 0
    }

    func support(of room: RoomIndex) -> Int16 {
        belief.first { $0.room == room }?.support ?? 0
    }
}
