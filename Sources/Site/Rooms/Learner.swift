/// The last windows of a tag that is learned from. A window is learned once those before and after it are known.
///
/// The windows' elements are contiguous in two arrays, so that a window allocates nothing.
struct Learner: Sendable {
    struct Window: Sendable, BitwiseCopyable {
        /// How many elements of `levels` and of `rooms` belong to it.
        var levels: Int
        var rooms: Int
        var seconds: Float
        /// Seconds since the previous window, at most 1.
        var elapsed: Float
    }

    struct RoomWeight: Sendable, BitwiseCopyable {
        var room: RoomIndex
        /// Log likelihood of the window.
        var evidence: Float
        /// After the window, 0 … 1.
        var belief: Float
    }

    var windows: [Window] = []
    var levels: [FingerprintLevel] = []
    var rooms: [RoomWeight] = []

    mutating func removeFirst(_ count: Int) {
        levels.removeFirst(windows.prefix(count).reduce(0) { $0 + $1.levels })
        rooms.removeFirst(windows.prefix(count).reduce(0) { $0 + $1.rooms })
        windows.removeFirst(count)
    }
}
