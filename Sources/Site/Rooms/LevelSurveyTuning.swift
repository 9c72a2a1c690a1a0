import Base

/// The constants of `LevelSurvey`. They were chosen in the random homes 1 to 60; `Benchmarks/README.md` has what they do in others.
package struct LevelSurveyTuning: Sendable {
    /// Levels are compared as means over this time. Two such times pass within ten minutes, however they lie to the event.
    package var block: Duration = .seconds(180)
    /// Blocks after which the reference of a pair counts: a night and a morning.
    package var readyBlocks = 240
    /// Blocks that the reference remembers: a week.
    package var mostBlocks = 3360
    /// A pair deviates if it differs from its reference by so many standard deviations of a block, and by so many dB.
    package var deviations: Float = 3
    package var leastChange: Float = 6
    /// Share of the neighbours of a gateway that must deviate, and how many at least.
    package var share: Float = 0.6
    package var leastNeighbours = 2
    /// Blocks in a row after which a gateway counts as moved.
    package var blocksOfMove = 2
    /// Blocks in a row after which it counts as covered: all neighbours lose about the same. A person who sits before it does that, too.
    package var blocksOfCover = 80
    /// All losses lie within so many dB of their median, for a cover, and the median is at most so large: more is a move.
    package var coverSpread: Float = 5
    package var largestCover: Float = 15
    /// What stands for the level of a beacon that is not heard, dBm.
    package var missLevel: Float = -95
    /// A beacon must have been at least so loud that its silence says something, dBm.
    package var audible: Float = -86

    package init() {}
}
