/// The constants of `LevelCourse`.
package struct LevelCourseTuning: Hashable, Sendable {
    /// The weight of a level in the mean of the latest levels' deviation. A movement shows within some seconds.
    package var latestShare: Float = 0.4
    /// The least weight of a level in the mean, which follows slow changes of a home, such as doors and people.
    package var meanShare: Float = 0.02
    /// Bounds of the estimated variance of a gateway's levels, dB².
    package var leastVariance: Float = 2
    package var mostVariance: Float = 100

    package init() {}
}
