import Base

/// How the level of one gateway developed since the tag last moved.
///
/// It takes seven bytes, because each tag has one for each gateway that hears it.
struct LevelCourse: Sendable, BitwiseCopyable {
    /// 1/128 dB, 1/128 dB and 1/32 dB².
    private var meanSteps: Int16
    private var deviationSteps: Int16 = 0
    private var varianceSteps = Int16(Self.usualVariance * 32)
    /// Number of these levels, at most 255.
    private(set) var count: UInt8 = 1

    /// The variance of a level, before anything is known about the gateway and the place, dB².
    private static let usualVariance: Float = 12
    /// The number of levels that this is worth.
    private static let usualCount: Float = 8

    init(level: Float) { meanSteps = Self.steps(level, 128) }

    private static func steps(_ value: Float, _ perUnit: Float) -> Int16 {
        Int16(max(-32_000, min(32_000, (value * perUnit).rounded())))
    }

    /// Mean of the levels since then, dBm; if there are many, of the latest ones.
    private(set) var mean: Float {
        get { Float(meanSteps) / 128 }
        set { meanSteps = Self.steps(newValue, 128) }
    }

    /// By how much the latest levels deviate from the mean, dB.
    private(set) var deviation: Float {
        get { Float(deviationSteps) / 128 }
        set { deviationSteps = Self.steps(newValue, 128) }
    }

    /// Variance of the levels in one place, dB².
    private(set) var variance: Float {
        get { Float(varianceSteps) / 32 }
        set { varianceSteps = Self.steps(newValue, 32) }
    }

    /// Adds a level.
    mutating func add(_ level: Float, _ tuning: LevelCourseTuning) {
        let difference = level - mean
        let surprise = difference - deviation
        let known = Float(count)
        // How far this level is from what the latest ones predict shows the variance, even while the tag moves.
        let estimate = min(surprise * surprise * (2 - tuning.latestShare) / 2, tuning.mostVariance)
        variance = max(
            tuning.leastVariance,
            variance + max(tuning.meanShare, 1 / (known + Self.usualCount)) * (estimate - variance))
        deviation += tuning.latestShare * surprise
        mean += max(tuning.meanShare, 1 / (known + 1)) * difference
        if count < .max { count += 1 }
    }

    /// Inverse of the variance that the deviation has while the tag lies still, 1/dB².
    func precision(_ tuning: LevelCourseTuning) -> Float {
        1 / (variance * (tuning.latestShare / (2 - tuning.latestShare) + 1 / Float(count)))
    }

    /// Makes the latest levels the mean.
    mutating func beginAnew() {
        mean += deviation
        deviation = 0
        count = 2
    }
}
