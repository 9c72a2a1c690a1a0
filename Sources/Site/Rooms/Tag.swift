import Base

/// A tag as the engine knows it.
struct Tag: Sendable {
    /// Largest number of gateways that are kept for one tag.
    static let mostLevels = 12
    /// Largest number of rooms that are kept for one tag; the least probable is dropped.
    static let mostRooms = 8
    /// A second, with the jitter of messages. It is an integer because it is compared for each reading.
    static let secondNanoseconds: Int64 = 1_500_000_000

    var description: TagDescription
    /// What each gateway last heard of the tag, sorted by gateway.
    private(set) var levels: [HeardLevel] = []
    var belief = Belief()
    /// Since when `room` and `isHome` are reported; nil if they were not decided since this start.
    var since: MonotonicInstant?
    /// When the last window was judged; nil if there was none since the tag came home.
    var judged: MonotonicInstant?
    /// When the tag sent its latest packet; nil if none was heard yet.
    var latestPacket: MonotonicInstant?
    private(set) var movement = Movement()
    var floorDoubt = FloorDoubt()
    var isHome = false
    /// Whether a window is open.
    var isPending = false
    /// The room that is reported.
    var room: RoomIndex?

    init(_ description: TagDescription) { self.description = description }

    /// Records a level.
    mutating func hear(_ heard: HeardLevel, longestPause: Float, _ tuning: LevelCourseTuning) {
        if let index = levels.firstIndex(where: { $0.gateway >= heard.gateway }) {
            if levels[index].gateway == heard.gateway {
                var heard = heard
                heard.continueCourse(of: levels[index], longestPause: longestPause, tuning)
                levels[index] = heard
                return
            }
            if levels.count < Self.mostLevels {
                levels.insert(heard, at: index)
                return
            }
        } else if levels.count < Self.mostLevels {
            levels.append(heard)
            return
        }
        // The level that was heard longest ago is replaced; of those just heard, the weakest.
        guard
            let least = levels.indices.min(by: {
                (levels[$0].pairOfSeconds, levels[$0].level) < (levels[$1].pairOfSeconds, levels[$1].level)
            }), levels[least].level < heard.level || heard.at.nanoseconds - levels[least].at.nanoseconds > 2_000_000_000
        else { return }
        levels.remove(at: least)
        let index = levels.firstIndex { $0.gateway > heard.gateway } ?? levels.endIndex
        levels.insert(heard, at: index)
    }

    /// Forgets what a gateway heard of the tag.
    mutating func forget(_ gateway: GatewayIndex) { levels.removeAll { $0.gateway == gateway } }

    /// Whether all gateways that heard the tag in the last window have heard it again.
    @inline(__always)
    var isComplete: Bool {
        guard let judged else { return false }
        for heard in levels
        where heard.at <= judged && judged.nanoseconds - heard.at.nanoseconds < Self.secondNanoseconds { return false }
        return true
    }

    /// Looks at the levels of a window, and decides whether the tag moved.
    @inline(__always)
    mutating func senseMovement(
        in window: borrowing LevelVector, _ gateways: Table<GatewayIndex, GatewayState>, at now: MonotonicInstant,
        _ tuning: RoomTuning
    ) {
        guard movement.sense(levels, in: window, since: since, gateways, at: now, tuning) else { return }
        for index in levels.indices { levels[index].course.beginAnew() }
    }

    /// What is known about the tag's place is wrong now: a gateway stands elsewhere, or a room was forgotten.
    mutating func forgetRest() { movement.forgetRest() }

    /// The tag is in this room, which has another index now.
    mutating func settle(in room: RoomIndex) {
        self.room = room
        belief.settle(on: room)
    }

    /// The tag is away.
    mutating func leave() {
        belief.forget()
        levels = []
        judged = nil
        floorDoubt.end()
        forgetRest()
    }

    /// Seconds since the tag's room was reported; nil without a room.
    @inline(__always)
    func secondsInRoom(at now: MonotonicInstant) -> Float? {
        guard room != nil, let since else { return nil }
        return max(0, now.seconds(since: since))
    }
}
