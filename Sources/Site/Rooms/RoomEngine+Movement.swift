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

    /// Of a level, before anything is known of the gateway and the place, dB².
    private static let usualVariance: Float = 12
    /// Levels that this is worth.
    private static let usualCount: Float = 8

    init(level: Float) { meanSteps = Self.steps(level, 128) }

    private static func steps(_ value: Float, _ perUnit: Float) -> Int16 {
        Int16(max(-32_000, min(32_000, (value * perUnit).rounded())))
    }

    /// Mean of the levels since then, dBm; where they are many, of the latest ones.
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
    mutating func add(_ level: Float, _ tuning: RoomTuning) {
        let difference = level - mean
        let surprise = difference - deviation
        let known = Float(count)
        // What the latest levels did not foretell of this one tells the variance also while the tag moves.
        let estimate = min(surprise * surprise * (2 - tuning.latestShare) / 2, tuning.mostLevelVariance)
        variance = max(
            tuning.leastLevelVariance,
            variance + max(tuning.meanShare, 1 / (known + Self.usualCount)) * (estimate - variance))
        deviation += tuning.latestShare * surprise
        mean += max(tuning.meanShare, 1 / (known + 1)) * difference
        if count < .max { count += 1 }
    }

    /// Inverse of the variance that the deviation has of a tag that lies still, 1/dB².
    func precision(_ tuning: RoomTuning) -> Float {
        1 / (variance * (tuning.latestShare / (2 - tuning.latestShare) + 1 / Float(count)))
    }

    /// Makes the latest levels the mean.
    mutating func beginAnew() {
        mean += deviation
        deviation = 0
        count = 2
    }
}

extension HeardLevel {
    /// Takes over the course of the gateway's earlier levels.
    mutating func continueCourse(of earlier: HeardLevel, _ tuning: RoomTuning) {
        guard at.seconds(since: earlier.at) < RoomEngine.longestPause else { return }
        course = earlier.course
        course.add(level, tuning)
    }
}

extension Tag {
    /// The tag counts as one that moves.
    mutating func forgetRest() {
        moved = nil
        stirred = nil
    }
}

/// Whether a tag moves.
///
/// Rooms change because tags move, and then the levels of several gateways change within seconds, each in its own way. A tag that lies
/// still repeats itself: where two rooms fit it nearly alike, its levels drift for hours, and sooner or later the other room fits better
/// for a while.
extension RoomEngine {
    /// A course of fewer levels says nothing.
    private static let fewestLevels = 3
    /// A gateway with more levels heard the tag where it lay. One with fewer began to hear it.
    private static let mostNewLevels = 6
    /// A gateway that hears nothing for so many report intervals does not only lose packets.
    private static let silentReports: Float = 2.5
    /// A longer time between two windows is a pause, and not the beacon's interval, seconds.
    private static let longestInterval: Float = 15

    /// Looks at the latest levels, and records whether the tag moved.
    mutating func senseMovement(of tag: TagIndex, at now: MonotonicInstant) {
        // The longest of the latest intervals: gateways tell of one packet in several windows.
        states[tag].interval = max(1, states[tag].interval * 0.9, min(scratch.vector.elapsed, Self.longestInterval))
        let interval = reportInterval(of: tag)
        let signs = movementSigns(of: tag, at: now, interval: interval)
        let isElsewhere =
            states[tag].moved == nil || scratch.vector.elapsed >= Self.longestPause || signs.isHeardElsewhere
        scratch.seemsToMove = false
        // Once a movement seems to have begun, a window in which chance hides it does not end it.
        let least = states[tag].stirred == nil ? tuning.movementDeviations : tuning.stirDeviations
        guard isElsewhere || signs.deviate(least, tuning) else {
            // It is where it was: the levels deviated by chance, or a person passed. A room that was reported meanwhile is not held.
            if let stirred = states[tag].stirred, let since = states[tag].since, since > stirred {
                states[tag].moved = now
            }
            states[tag].stirred = nil
            return
        }
        let stirred = states[tag].stirred ?? now
        states[tag].stirred = stirred
        scratch.seemsToMove = isElsewhere || signs.deviate(clearDeviations(of: tag, at: now), tuning)
        guard isElsewhere || now.seconds(since: stirred) >= tuning.stirReports * interval else { return }
        states[tag].moved = now
        states[tag].stirred = nil
        for place in states[tag].levels.indices { states[tag].levels[place].course.beginAnew() }
    }

    /// What the levels of all gateways say.
    private struct MovementSigns {
        /// Of the deviations: their number, their squares in variances, their sum weighted with the inverse variances, and the sum of these.
        var (count, squares, sum, weights): (Float, Float, Float, Float) = (0, 0, 0, 0)
        /// Gateways that heard the tag lately.
        var recent = 0
        /// A gateway hears it loudly that did not hear it before.
        var isLoud = false
        /// A gateway began to hear it.
        var isNew = false
        /// A gateway has heard it for long.
        var hadPlace = false
        /// Such a gateway still does.
        var isWhereItLay = false

        /// Whether the levels deviate from those of the place where the tag lies by more than chance does as rarely as a normal distribution exceeds
        /// so many standard deviations. What all gateways have in common comes from a body that turns, with a standard deviation of
        /// `bodyDeviation`. For a tag that lies still near such a body, the sum is χ² distributed with one degree of freedom for each gateway.
        func deviate(_ deviations: Float, _ tuning: RoomTuning) -> Bool {
            guard count > 0 else { return false }
            let common = sum * sum / (weights + 1 / (tuning.bodyDeviation * tuning.bodyDeviation))
            return squares - common > quantile(ofFreedom: count, deviations)
        }

        /// Whether a gateway hears the tag that does not where it lay: loudly and for the first time, or while all are silent that heard it
        /// there. Where more gateways hear the tag than are kept, a new one only takes the place of another.
        var isHeardElsewhere: Bool { isLoud && recent < Tag.mostLevels || isNew && hadPlace && !isWhereItLay }
    }

    @inline(__always)
    private func movementSigns(of tag: TagIndex, at now: MonotonicInstant, interval: Float) -> MovementSigns {
        var signs = MovementSigns()
        let nodeInterval = max(interval, tuning.nodeReportSeconds)
        for heard in states[tag].levels {
            let silence = now.seconds(since: heard.at)
            guard silence < Self.longestPause else { continue }
            signs.recent += 1
            // What a gateway measured long ago says nothing of a movement now. Where many gateways hear the tag now and then, the last level of some
            // always deviates by chance.
            let longest = Self.silentReports * (gateways[heard.gateway].sendsAlways ? interval : nodeInterval)
            let isPresent = silence <= longest
            if isPresent, heard.course.count >= Self.fewestLevels {
                let (deviation, weight) = (heard.course.deviation, heard.course.precision(tuning))
                signs.count += 1
                signs.weights += weight
                signs.sum += deviation * weight
                signs.squares += deviation * deviation * weight
            }
            if heard.course.count > Self.mostNewLevels {
                signs.hadPlace = true
                if isPresent { signs.isWhereItLay = true }
            } else if silence <= interval {
                signs.isNew = true
                let isLoud = heard.level > tuning.missLevel + tuning.appearanceHeight
                if heard.course.count == 1, isLoud, listened(heard.gateway, before: heard.at, longest) {
                    signs.isLoud = true
                }
            }
        }
        return signs
    }

    /// Whether the gateway listened for some time before it heard the tag. Otherwise the tag may have lain there all the time.
    private func listened(_ gateway: GatewayIndex, before heard: MonotonicInstant, _ seconds: Float) -> Bool {
        heard.seconds(since: gateways[gateway].listensSince) > seconds
    }

    /// Seconds between two packets, or between two messages of a node.
    private func reportInterval(of tag: TagIndex) -> Float {
        scratch.vector.isHeardByGateway ? states[tag].interval : tuning.nodeReportSeconds
    }

    /// Report intervals since the tag last moved, of those after the first ones; 0 while it seems to move.
    @inline(__always)
    func restReports(of tag: TagIndex, at now: MonotonicInstant) -> Float {
        max(0, restSeconds(of: tag, at: now) / reportInterval(of: tag) - tuning.settleReports)
    }

    /// Seconds since the tag of the present window last moved; 0 while it seems to move.
    @inline(__always)
    func restSeconds(of tag: TagIndex, at now: MonotonicInstant) -> Float {
        guard let moved = states[tag].moved, !scratch.seemsToMove else { return 0 }
        return now.seconds(since: moved)
    }

    /// The number of standard deviations from which on a tag seems to move at once, and not only after `stirReports`. The longer it has not
    /// moved, the more windows there were in which its levels could deviate so much by chance: the largest of n normal deviations grows as the
    /// square root of 2·ln(n).
    private func clearDeviations(of tag: TagIndex, at now: MonotonicInstant) -> Float {
        let least = tuning.movementDeviations
        guard let moved = states[tag].moved else { return least }
        let chances = 1 + now.seconds(since: moved) / (tuning.restHalfReports * reportInterval(of: tag))
        return (least * least + 2 * FixedMath.log(chances)).squareRoot()
    }

    /// How much a window of a tag counts that lies still, 0 … 1: the levels of its place are known, and more of them say little new.
    /// The packets of a slow beacon are fewer, so it takes longer.
    @inline(__always)
    func worth(atRestFor reports: Float) -> Float {
        let half = tuning.restHalfReports * (1 + (tuning.labelledRestFactor - 1) * scratch.labelledShare)
        return tuning.leastWorth + (1 - tuning.leastWorth) * half / (half + reports)
    }

    /// What is known of the place of these tags is wrong now: a gateway stands elsewhere, or a room was forgotten.
    mutating func forgetRest(ofTagsWhere isConcerned: (Tag) -> Bool) {
        for tag in states.indices where isConcerned(states[tag]) { states[tag].forgetRest() }
    }
}

/// What a χ² distributed number exceeds as rarely as a normal one exceeds `deviations` (Cornish and Fisher's expansion).
private func quantile(ofFreedom freedom: Float, _ deviations: Float) -> Float {
    freedom + deviations * (2 * freedom).squareRoot() + (deviations * deviations - 1) * 2 / 3
}
