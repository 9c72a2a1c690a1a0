/// The constants of `FloorRule`: what the floors of rooms are worth.
package struct FloorTuning: Hashable, Sendable {
    /// How much all receivers of a floor say of it, beside those of each room.
    package var floorShare: Float = 2
    /// The levels of a floor's receivers are added up as exp(this · dB): a receiver of another room of the floor counts, too.
    package var floorSlope: Float = 0.1
    /// A level that adds as much as a floor has without any, dBm.
    package var leastLevel: Float = -95
    /// While no stairs are known, a move to another floor has this share of the probability that it would have without floors.
    package var changeShare: Float = 0.3
    /// A tag that was not heard for longer may have passed the stairs meanwhile, seconds: then a change costs, and is not impossible.
    package var stairsSeconds: Float = 4
    /// Readings contradict the floor of a tag if the best room of another floor is by this much more likely than the best of its own,
    /// in logarithms.
    package var contradiction: Float = 2
    /// A lock that the readings contradict for so many seconds more than they confirm it is broken.
    package var lockSeconds: Float = 60

    package init() {}
}
