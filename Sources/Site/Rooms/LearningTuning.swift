/// The constants of `Learning`: which windows are learned, and how much they count.
package struct LearningTuning: Hashable, Sendable {
    /// The probability, given the windows before and after, at which a window is learned.
    package var learnProbability: Float = 0.8
    /// Number of later windows that must be known before the oldest are learned.
    package var learnLag = 12
    /// What a tag shows of a room during one stay counts as at most this many seconds times π / 2; a window counts half after this
    /// many seconds. Further seconds repeat it: a tag that lies where another room fits better would teach that mistake for hours.
    package var ownStaySeconds: Float = 60
    /// Mean seconds between room changes, for the backward step.
    package var learnStaySeconds: Float = 60
    /// Weight of a room change that the engine itself decided. One in a training run has the weight 1.
    package var ownExit: Float = 0.2
    /// A window counts as at most this many seconds: packets of slow beacons are independent.
    package var longestWindow: Float = 10
    /// Largest distance from the last window that is certain of one room to the first that is certain of the next, in windows.
    package var mostDoubtful = 6
    /// Longest pause between training runs of two rooms that belong to one walk.
    package var walk: Duration = .seconds(30)
    /// After a room's gateways changed, the room's `placed` is a mean over at least this many seconds: fingerprints are replaced, and
    /// their seconds with them.
    package var leastPlacedSeconds: Float = 30

    package init() {}
}
