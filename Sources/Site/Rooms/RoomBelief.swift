/// A room and its probability.
struct RoomBelief: Sendable, BitwiseCopyable {
    var room: RoomIndex
    /// Consecutive readings that speak for this room rather than for the reported one; at most 101.
    var support: Int16
    var probability: Float
}
