import Base

/// Whether one tag moves.
///
/// Rooms change because tags move, and then the levels of several gateways change within seconds, each by another amount. A tag that
/// lies still repeats itself: where two rooms fit it nearly alike, its levels drift for hours, and sooner or later the other room fits
/// better for a while.
struct Movement: Sendable {
    /// When the tag last moved, or was heard again after a pause; nil if there was no window since it came home.
    private(set) var moved: MonotonicInstant?
    /// Since when the levels deviate from those of the tag's place; nil while they do not.
    private var stirred: MonotonicInstant?
    /// Whether the tag seemed to move in its latest window.
    private var seemsToMove = false
    /// The longest of the latest times between two windows, seconds.
    private(set) var interval: Float = 1

    /// The tag counts as moving: it left, or what is known about its place is wrong.
    mutating func forgetRest() {
        moved = nil
        stirred = nil
    }

    /// Looks at the levels of a window, and decides whether the tag moved.
    ///
    /// - Parameters:
    ///   - levels: Of the tag, by gateway.
    ///   - reported: Since when the tag's room is reported; nil if it was not decided since the start.
    /// - Returns: Whether the tag is in another place now, so that the courses of its levels begin anew.
    mutating func sense(
        _ levels: [HeardLevel], in window: borrowing LevelVector, since reported: MonotonicInstant?,
        _ gateways: Table<GatewayIndex, GatewayState>, at now: MonotonicInstant, _ tuning: RoomTuning
    ) -> Bool {
        // The longest of the latest intervals: gateways report one packet in several windows.
        interval = max(
            1, interval * tuning.movement.intervalShare, min(window.elapsed, tuning.movement.longestInterval))
        let report = reportInterval(in: window, tuning)
        let signs = MovementSigns(levels, gateways, at: now, interval: report, tuning)
        let isElsewhere =
            moved == nil || window.elapsed >= tuning.hearing.longestPauseSeconds || signs.isHeardElsewhere
        seemsToMove = false
        // Once a movement seems to have begun, a window in which chance hides it does not end it.
        let least = stirred == nil ? tuning.movement.movementDeviations : tuning.movement.stirDeviations
        guard isElsewhere || signs.deviate(least, tuning) else {
            // The tag is where it was: the levels deviated by chance, or a person passed. A room that was reported meanwhile is not held.
            if let stirred, let reported, reported > stirred { moved = now }
            stirred = nil
            return false
        }
        let began = stirred ?? now
        stirred = began
        seemsToMove = isElsewhere || signs.deviate(clearDeviations(at: now, interval: report, tuning), tuning)
        guard isElsewhere || now.seconds(since: began) >= tuning.movement.stirReports * report else { return false }
        moved = now
        stirred = nil
        return true
    }

    /// Seconds between two packets, or between two messages of a node.
    @inline(__always)
    private func reportInterval(in window: borrowing LevelVector, _ tuning: RoomTuning) -> Float {
        window.isHeardByGateway ? interval : tuning.silence.nodeReportSeconds
    }

    /// The number of standard deviations above which a tag seems to move at once, and not only after `stirReports`. The longer the tag has
    /// not moved, the more windows there were in which its levels could deviate so much by chance: the largest of n normal deviates
    /// grows as the square root of 2·ln(n).
    private func clearDeviations(at now: MonotonicInstant, interval: Float, _ tuning: RoomTuning) -> Float {
        let least = tuning.movement.movementDeviations
        guard let moved else { return least }
        let chances = 1 + now.seconds(since: moved) / (tuning.movement.restHalfReports * interval)
        return (least * least + 2 * FixedMath.log(chances)).squareRoot()
    }

    /// Seconds since the tag last moved; 0 while it seems to move.
    @inline(__always)
    func restSeconds(at now: MonotonicInstant) -> Float {
        guard let moved, !seemsToMove else { return 0 }
        return now.seconds(since: moved)
    }

    /// Report intervals since the tag last moved, without the first `settleReports`; 0 while it seems to move.
    @inline(__always)
    func restReports(in window: borrowing LevelVector, at now: MonotonicInstant, _ tuning: RoomTuning) -> Float {
        max(0, restSeconds(at: now) / reportInterval(in: window, tuning) - tuning.movement.settleReports)
    }

    /// Whether the tag has moved since a gateway heard it. Where it was then says little after that.
    @inline(__always)
    func hasMoved(since heard: HeardLevel, _ tuning: RoomTuning) -> Bool {
        moved.map { $0.seconds(since: heard.at) > tuning.silence.freshSeconds } ?? false
    }

    /// The weight of a window of a tag that lies still, 0 … 1: the levels of its place are known, and more of them say little new.
    /// The packets of a slow beacon are fewer, so it takes longer.
    @inline(__always)
    static func worth(atRestFor reports: Float, labelledShare: Float, _ tuning: MovementTuning) -> Float {
        let half = tuning.restHalfReports * (1 + (tuning.labelledRestFactor - 1) * labelledShare)
        return tuning.leastWorth + (1 - tuning.leastWorth) * half / (half + reports)
    }
}

/// What the levels of all gateways in one window say about a movement.
private struct MovementSigns {
    /// Of the deviations: their number, the sum of their squares in variances, their sum weighted by the inverse variances, and the sum of
    /// these weights.
    var (count, squares, sum, weights): (Float, Float, Float, Float) = (0, 0, 0, 0)
    /// Gateways that heard the tag lately.
    var recent = 0
    /// A gateway that did not hear it before hears it loudly.
    var isLoud = false
    /// A gateway began to hear it.
    var isNew = false
    /// A gateway has heard it for long.
    var hadPlace = false
    /// Such a gateway still does.
    var isWhereItLay = false

    @inline(__always)
    init(
        _ levels: [HeardLevel], _ gateways: Table<GatewayIndex, GatewayState>, at now: MonotonicInstant,
        interval: Float, _ tuning: RoomTuning
    ) {
        let nodeInterval = max(interval, tuning.silence.nodeReportSeconds)
        for heard in levels {
            let silence = now.seconds(since: heard.at)
            guard silence < tuning.hearing.longestPauseSeconds else { continue }
            recent += 1
            // What a gateway measured long ago says nothing about a movement now. Where many gateways hear the tag now and then, the last
            // level of some always deviates by chance.
            let longest =
                tuning.movement.silentReports * (gateways[heard.gateway].sendsAlways ? interval : nodeInterval)
            let isPresent = silence <= longest
            if isPresent, heard.course.count >= tuning.movement.fewestLevels {
                let (deviation, weight) = (heard.course.deviation, heard.course.precision(tuning.course))
                count += 1
                weights += weight
                sum += deviation * weight
                squares += deviation * deviation * weight
            }
            if heard.course.count > tuning.movement.mostNewLevels {
                hadPlace = true
                if isPresent { isWhereItLay = true }
            } else if silence <= interval {
                isNew = true
                let isHigh = heard.level > tuning.silence.missLevel + tuning.movement.appearanceHeight
                // Otherwise the tag may have lain there all the time.
                let listened = heard.at.seconds(since: gateways[heard.gateway].listensSince)
                if heard.course.count == 1, isHigh, listened > longest { isLoud = true }
            }
        }
    }

    /// Whether the levels deviate from those of the place where the tag lies by more than chance explains: by chance they do so as rarely
    /// as a normal deviate exceeds this many standard deviations. What all gateways have in common comes from a body that turns, with a
    /// standard deviation of `bodyDeviation`. For a tag that lies still near such a body, the sum is χ² distributed with one degree of
    /// freedom for each gateway.
    func deviate(_ deviations: Float, _ tuning: RoomTuning) -> Bool {
        guard count > 0 else { return false }
        let common = sum * sum / (weights + 1 / (tuning.prints.bodyDeviation * tuning.prints.bodyDeviation))
        return squares - common > quantile(ofFreedom: count, deviations)
    }

    /// Whether a gateway hears the tag that did not hear it where it lay: loudly and for the first time, or while all that heard it there
    /// are silent. Where more gateways hear the tag than are kept, a new one only takes the place of another.
    var isHeardElsewhere: Bool { isLoud && recent < Tag.mostLevels || isNew && hadPlace && !isWhereItLay }
}

/// The number that a χ² distributed variable exceeds as rarely as a normal one exceeds `deviations` (Cornish and Fisher's expansion).
private func quantile(ofFreedom freedom: Float, _ deviations: Float) -> Float {
    freedom + deviations * (2 * freedom).squareRoot() + (deviations * deviations - 1) * 2 / 3
}
