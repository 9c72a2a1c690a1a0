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
    var gateway: UInt16
    /// Packets of the second.
    var packets: Int16
    /// dBm, corrected for the tag's power.
    var level: Float
    /// Nanoseconds of the service's clock.
    var at: Int64
}

/// A room and its probability.
struct RoomBelief: Sendable, BitwiseCopyable {
    var room: Int16
    /// Readings in a row that speak for it rather than for the room that is reported; at most 101.
    var support: Int16
    var probability: Float
}

/// A training run. Instants are nanoseconds of the service's clock.
struct TrainingRun: Sendable, BitwiseCopyable {
    var began: Int64
    var until: Int64
    /// Seconds in which the tag was heard, and learned.
    var learned: Float = 0
    var room: Int16
    /// It ended early, or a window came after its end.
    var isOver = false

    /// What was heard in the second before the training began, perhaps elsewhere, arrives until then.
    var learnsFrom: Int64 { began &+ 1_100_000_000 }
}

/// A tag as the engine knows it. The narrow values are the last: so it takes less memory.
struct Tag: Sendable {
    /// Gateways that are told apart for one tag; the weakest gives way.
    static let mostLevels = 12
    /// Rooms that are told apart for one tag; the least probable gives way.
    static let mostRooms = 8

    var description: TagDescription
    /// Since when the room is reported, nanoseconds of the service's clock.
    var since: Int64 = 0
    /// Sorted by gateway.
    var levels: [HeardLevel] = []
    /// The sum is 1, or there are none.
    var belief: [RoomBelief] = []
    /// The last window, nanoseconds of the service's clock; `.min`: none yet.
    var judged = Int64.min
    /// When it sent its latest packet, nanoseconds of the service's clock; `.min`: none yet.
    var latestPacket = Int64.min
    /// Place in the list of those that are learned from; -1: not there.
    var learner: Int16 = -1
    /// The room that is reported; -1: none.
    var room: Int16 = -1
    var isHome = false
    /// Whether a window is open.
    var isPending = false

    init(_ description: TagDescription) { self.description = description }

    func probability(of room: Int16) -> Float {
        belief.first { $0.room == room }?.probability ?? 0
    }

    func support(of room: Int16) -> Int16 {
        belief.first { $0.room == room }?.support ?? 0
    }
}
