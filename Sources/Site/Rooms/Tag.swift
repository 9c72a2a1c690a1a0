import Base
package import Regions

/// A tag as it is described to the engine.
package struct TagDescription: Hashable, Sendable {
    /// Permanent; a topic level.
    package var id: String
    package var name: String
    package var pattern: BeaconPattern
    /// Whether it is a device that is known by its key: its pauses are long.
    package var isPhone: Bool

    package init(id: String, name: String, pattern: BeaconPattern, isPhone: Bool = false) {
        self.id = id
        self.name = name
        self.pattern = pattern
        self.isPhone = isPhone
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
    var course: LevelCourse

    init(gateway: GatewayIndex, packets: Int16, level: Float, at: MonotonicInstant) {
        (self.gateway, self.packets, self.level, self.at) = (gateway, packets, level, at)
        course = LevelCourse(level: level)
    }
}

/// A room and its probability.
struct RoomBelief: Sendable, BitwiseCopyable {
    var room: RoomIndex
    /// Consecutive readings that speak for this room rather than for the reported one; at most 101.
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

    /// Readings from the second before the training began, perhaps from elsewhere, arrive until then.
    var learnsFrom: MonotonicInstant { began.advanced(by: .milliseconds(1100)) }
}

/// A tag as the engine knows it. The narrow values are last, to take less memory.
struct Tag: Sendable {
    /// Largest number of gateways that are kept for one tag.
    static let mostLevels = 12
    /// Largest number of rooms that are kept for one tag; the least probable is dropped.
    static let mostRooms = 8

    var description: TagDescription
    /// Sorted by gateway.
    var levels: [HeardLevel] = []
    /// The probabilities add up to 1 unless the list is empty.
    var belief: [RoomBelief] = []
    /// Since when `room` and `isHome` are reported; nil if they were not decided since this start.
    var since: MonotonicInstant?
    /// When the last window was judged; nil if there was none since the tag came home.
    var judged: MonotonicInstant?
    /// When the tag sent its latest packet; nil if none was heard yet.
    var latestPacket: MonotonicInstant?
    /// When the tag last moved, or was heard again after a pause; nil if there was no window since it came home.
    var moved: MonotonicInstant?
    /// Since when its levels deviate from those of its place; nil while they do not.
    var stirred: MonotonicInstant?
    /// The longest of the latest times between two windows, seconds.
    var interval: Float = 1
    var isHome = false
    /// Whether a window is open.
    var isPending = false
    /// Its last windows; nil if the engine does not learn from the tag.
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
