/// The constants of `LevelSurvey`. They were chosen in the random homes 1 to 150; `Benchmarks/README.md` has what they do in others.
package struct LevelSurveyTuning: Sendable {
    /// Levels are compared as means over this time. Two such times pass within ten minutes, however they lie to the event.
    package var block: Duration = .seconds(180)
    /// Blocks after which the reference of a pair counts: a night and a morning.
    package var readyBlocks = 240
    /// Blocks that the reference remembers: a week.
    package var mostBlocks = 3360
    /// A link is counted as changed if it differs by so many standard deviations of a block, and by so many dB.
    package var deviations: Float = 2
    package var leastChange: Float = 5
    package var leastNeighbours = 2
    /// Share of the links in whose way something is, and by how much that changes them, dB.
    package var disturbed: Float = 0.15
    package var disturbance: Float = 6
    /// The same for a level that rises above its mean of days. Bodies and doors take from a level. What gives is another place of a thing that
    /// stood in the way, or the end of what usually is there.
    package var rise: Float = 4
    /// By how much a level changes if one end is moved, dB.
    package var move: Float = 10
    /// What a body or a thing before a gateway does: it takes so much, dB, from this share of the links.
    package var shadowed: Float = 0.7
    package var shadow: Float = 9
    package var shadowSpread: Float = 5
    /// What remains where a body that often rests before a gateway, and is part of the mean, has gone: it gives so much, dB, to the same share.
    package var light: Float = 5
    package var lightSpread: Float = 2
    /// No body takes more than this from half of the levels, dB.
    package var largestShadow: Float = 20
    /// Natural logarithm of the odds from which a block speaks for a move, or for one of both.
    package var certain: Float = 10
    package var likely: Float = 7
    package var certainOfChange: Float = 8
    /// Blocks in a row after which a gateway counts as moved.
    package var blocksOfMove = 2
    /// The same where each block says only that it is likely: an hour.
    package var blocksOfLikelyMove = 20
    /// Blocks in a row after which it counts as changed, whatever the reason. A person who sits before it gets up before that.
    package var blocksOfChange = 200
    /// Of the difference between two directions what is the receiver's: radios differ by 3.5 dB in what they measure, and by 2 dB in what they
    /// send (the random homes; both are assumed).
    package var shareOfMeasuring: Float = 0.75
    /// What stands for the level of a beacon that is not heard, dBm.
    package var missLevel: Float = -95
    /// A beacon must have been at least so loud that its silence says something, dBm.
    package var audible: Float = -86

    package init() {}
}
