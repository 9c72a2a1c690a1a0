/// A window whose room is certain from the windows before and after it.
struct CertainWindow: Sendable, BitwiseCopyable {
    var window: Int
    var room: RoomIndex
    /// Where its levels end in `Learner.levels`.
    var levelsEnd: Int
}
