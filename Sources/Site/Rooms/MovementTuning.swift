/// The constants of `Movement`.
package struct MovementTuning: Hashable, Sendable {
    /// A movement seems to begin when the latest levels of a tag deviate from their means by more than chance explains: as rarely as a
    /// normal deviate exceeds this many standard deviations (`clearDeviations` says when it counts at once). With a smaller number, tags
    /// that lie still count as moving; with a larger one, a movement to the next room is missed.
    package var movementDeviations: Float = 1.7
    /// There was no movement if the levels deviate by less than this before `stirReports` are over.
    package var stirDeviations: Float = 0.7
    /// Levels that deviate for this many report intervals show that the tag is in another place now.
    package var stirReports: Float = 8
    /// A gateway that listened before without hearing the tag, and now hears it by this many dB above `missLevel`, shows that the tag
    /// moves: the gateway could not have missed it in the old place.
    package var appearanceHeight: Float = 20
    /// For this many report intervals after a movement the tag counts as moving.
    package var settleReports: Float = 20
    /// A window of a tag that lies still has half its weight after this many further report intervals, and never less than `leastWorth`.
    /// With labels a window says more about the place, so this number is multiplied by `labelledRestFactor`.
    package var restHalfReports: Float = 60
    package var labelledRestFactor: Float = 10
    package var leastWorth: Float = 0.03
    /// A course of fewer levels says nothing.
    package var fewestLevels = 3
    /// A gateway with more levels heard the tag where it lay. One with fewer began to hear it.
    package var mostNewLevels = 6
    /// Silence of a gateway for more report intervals than this is more than lost packets.
    package var silentReports: Float = 2.5
    /// Each window shortens the longest of the latest intervals to this share, unless its own is longer.
    package var intervalShare: Float = 0.9
    /// A longer time between two windows is a pause, and not the beacon's interval, seconds.
    package var longestInterval: Float = 15

    package init() {}
}
