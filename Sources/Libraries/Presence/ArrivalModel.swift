package import Beacon

/// The learned model of one beacon at one receiver: its rhythm, its losses, and its leave timeout.
///
/// All times are listening time of that receiver.
package struct ArrivalModel: Hashable, Sendable, BitwiseCopyable {
    private var statistics = SilenceStatistics()
    /// Nanoseconds of listening time.
    package private(set) var lastHeard: Int64
    /// The trend of the signal's strength.
    package private(set) var trend = SignalTrend()
    // The narrow values fill the padding between the wide ones: a beacon must fit into 200 bytes.
    private var gaps: UInt16 = 0
    /// Seconds between advertisements; 0: not known yet.
    package private(set) var interval: Float = 0
    /// Mean seconds between sightings.
    private var meanGap: Float = 0
    /// Seconds; shrinks by 3 % with each sighting.
    package private(set) var longestRecentGap: Float = 0
    /// The shortest gap since the last one that agreed with the interval.
    private var shortestSinceMatch: Float = .infinity
    /// Seconds of silence that the statistics find believable, before floors and caps.
    private var believable: Float = .infinity
    /// Seconds of silence after which the receiver gives the beacon up, unless the region sets the time.
    package private(set) var leaveTimeout: Float
    /// Scan duty while the statistics were made, 0.01 … 1.
    private var learnedDuty: Float
    /// Whether a quick beacon must be expected to slow down.
    package private(set) var slowDowns = SlowDownRecord()
    /// Gaps that are still missing before the rhythm is known.
    private var unsettled: UInt8 = PresenceTiming.gapsToKnowRhythm
    /// Gaps since the last one that agreed with the interval.
    private var unmatched: UInt8 = 0
    /// Recent gaps shorter than the interval, in quarters.
    private var tooShort: UInt8 = 0

    /// - Parameter slowsDown: Whether another beacon of the same UUID slowed down.
    package init(at listened: Int64, rssi: RSSI?, duty: Float, slowsDown: Bool = false) {
        lastHeard = listened
        if let rssi { trend.add(rssi, after: 0) }
        learnedDuty = duty
        leaveTimeout = Self.unknownRhythmSeconds(duty: duty)
        if slowsDown { slowDowns.expectSlowDown() }
    }

    /// Share of the beacon's advertisements that this receiver hears, 0 … 1.
    package var shareHeard: Float { statistics.shareHeard }

    /// Whether the rhythm was observed often enough to rely on it.
    package var isRhythmKnown: Bool { unsettled == 0 }

    /// Sets `lastHeard` after the origin of the listening clock changed, or to count the silence from the start again.
    package mutating func setLastHeard(_ listened: Int64) { lastHeard = listened }

    /// What a sighting changed.
    struct Heard {
        /// Seconds.
        let leaveTimeout: Float
        /// Seconds.
        let interval: Float
        /// Whether this sighting newly shows that the beacon slows down.
        let isSlowDown: Bool
    }

    /// The beacon was heard.
    ///
    /// - Parameters:
    ///   - isReturn: Whether the beacon was away since the last sighting, so that its level begins again.
    ///   - isJoint: Whether this is the model of several receivers together.
    mutating func hear(
        at listened: Int64, rssi: RSSI?, duty: Float, isReturn: Bool = false, isJoint: Bool = false
    ) -> Heard {
        let isSlowDown = learn(at: listened, rssi: rssi, duty: duty, isReturn: isReturn, isJoint: isJoint)
        return Heard(leaveTimeout: leaveTimeout, interval: interval, isSlowDown: isSlowDown)
    }

    /// Another beacon of the same UUID slowed down.
    mutating func expectSlowDown(duty: Float, isJoint: Bool = false) {
        slowDowns.expectSlowDown()
        decide(duty: duty, isJoint: isJoint)
    }

    /// - Returns: Whether the sighting newly shows that the beacon slows down.
    @inline(__always)
    private mutating func learn(
        at listened: Int64, rssi: RSSI?, duty: Float, isReturn: Bool, isJoint: Bool
    ) -> Bool {
        let gap = Float(max(0, listened - lastHeard)) * 1e-9
        lastHeard = max(lastHeard, listened)
        if let rssi { trend.add(rssi, after: gap, isReturn: isReturn) }
        guard gap >= PresenceTiming.sameAdvertisementSeconds else { return false }
        guard gap <= PresenceTiming.quickAbsenceSeconds || !isAbsence(gap, duty: duty) else {
            // The beacon was away. Its absence says nothing about its losses while it is near.
            unsettled = PresenceTiming.gapsToKnowRhythm
            decide(duty: duty, isJoint: isJoint)
            return false
        }
        let isSlowDown = learnInterval(from: gap)
        // Most gaps are one interval long. They need no division.
        let missing = gap < 1.5 * interval ? 0 : min((gap / interval).rounded() - 1, 10_000)
        statistics.addGap(missing: Int(missing))
        longestRecentGap = max(gap, longestRecentGap * 0.97)
        learnedDuty += (duty - learnedDuty) / 64
        settle(after: gap)
        // The counter wraps to a value at which no rule for young links applies.
        gaps = gaps == .max ? 1 << 15 : gaps + 1
        // One gap changes the counts little. The timeout is computed again only after several gaps or an unusual one,
        // which saves most of the work.
        if missing > 2 || gaps < 32 || gaps & 15 == 0 || unsettled > 0 {
            if gaps % Self.gapsInBlock == 0, isQuick {
                slowDowns.add(receptionSeconds: Float(Self.gapsInBlock) * quickGapSeconds)
            }
            decide(duty: duty, isJoint: isJoint)
        } else if missing > 0 {
            bound(duty: duty)
        }
        return isSlowDown
    }

    /// Whether the beacon was away in a gap longer than `quickAbsenceSeconds`: every rule had given it up, and it does
    /// not fall silent like this again and again.
    @inline(never)
    private mutating func isAbsence(_ gap: Float, duty: Float) -> Bool {
        if gap > PresenceTiming.capSeconds / duty { return true }
        return gap > leaveTimeout && isQuick && slowDowns.keepsRhythm && !slowDowns.doubtsAbsence()
    }

    /// Reception is added up in blocks of this many gaps.
    private static let gapsInBlock: UInt16 = 2048

    /// The mean of the gaps in the quick rhythm, without sleep. `meanGap` may still be that of a slow rhythm before it, and
    /// the life table counts in the present interval; where little is received, the interval is a guess, hence twice.
    private var quickGapSeconds: Float {
        let advertisements = statistics.advertisementsInGap(after: gaps)
        return advertisements.inRhythm * min(meanGap, 2 * advertisements.count * interval)
    }

    private var isQuick: Bool { interval <= PresenceTiming.quickIntervalSeconds }

    /// Computes the leave timeout again, after new gaps or a change of the scan duty.
    package mutating func decide(duty: Float, isJoint: Bool = false) {
        guard interval > 0 else { return }
        statistics.dropTraces()
        let cap = PresenceTiming.capSeconds / duty
        let limit = Int(min(cap / interval, 100_000)) + 1
        let odds = SilenceStatistics.Odds(
            meanGap: meanGap, interval: interval, motion: trend.motion,
            hearing: min(1, duty / learnedDuty),
            price: isQuick && slowDowns.keepsRhythm ? PresenceTiming.quickPrice : 1,
            isBold: isJoint && interval >= PresenceTiming.boldIntervalSeconds)
        // A fifth of an interval allows for the random delay of 0–10 ms and a wrong estimate of the interval.
        believable = (Float(statistics.patience(odds, limit: limit)) + 0.2) * interval
        bound(duty: duty)
    }

    /// Limits the believable silence by floors and caps; the result is the leave timeout.
    private mutating func bound(duty: Float) {
        var seconds = max(believable, PresenceTiming.recentGapFactor * longestRecentGap, PresenceTiming.floorSeconds)
        if isQuick, !slowDowns.keepsRhythm {
            seconds = max(seconds, slowDownHoldSeconds)
        }
        if unsettled > 0 { seconds = max(seconds, Self.unknownRhythmSeconds(duty: duty)) }
        leaveTimeout = min(seconds, PresenceTiming.capSeconds / duty)
    }

    /// The least leave timeout while the rhythm is unknown. With a smaller duty it takes longer to hear the rhythm.
    private static func unknownRhythmSeconds(duty: Float) -> Float { PresenceTiming.unknownRhythmSeconds / duty }

    private var slowDownHoldSeconds: Float { slowDowns.holdSeconds(hearing: min(1, interval / meanGap)) }

    /// Which rule set the leave timeout; if several agree, the first in the order of `bound`.
    package var leaveTimeoutRule: LeaveTimeoutRule {
        switch leaveTimeout {
        case believable: .rhythm
        case PresenceTiming.recentGapFactor * longestRecentGap: .longestGap
        case PresenceTiming.floorSeconds: .floor
        case slowDownHoldSeconds where isQuick && !slowDowns.keepsRhythm: .slowDown
        case _ where unsettled > 0 && (interval == 0 || believable < leaveTimeout): .unknownRhythm
        default: .cap
        }
    }

    /// A beacon that returns after a silence that the statistics had ruled out refutes them. The learned timeout must
    /// not decide until the rhythm has been observed again.
    @inline(__always)
    private mutating func settle(after gap: Float) {
        if gap > max(believable, PresenceTiming.floorSeconds) {
            unsettled = PresenceTiming.gapsToKnowRhythm
            if gap > leaveTimeout, gap <= PresenceTiming.quickAbsenceSeconds { slowDowns.doubt() }
        } else if unsettled > 0 {
            unsettled -= 1
        }
    }

    /// Follows the interval: the mean of the gaps that agree with it, a shorter one after two clearly shorter gaps, a
    /// longer one after sixteen longer gaps in a row (at 30 % reception, so long a run happens once in 300 times).
    ///
    /// - Returns: Whether the gap newly shows that the beacon slows down.
    @inline(__always)
    private mutating func learnInterval(from gap: Float) -> Bool {
        guard gaps > 0 else {
            interval = gap
            meanGap = gap
            return false
        }
        meanGap += (gap - meanGap) * (gaps < 511 ? 1 / (Float(gaps) + 1) : 1 / 512)
        if gap < 0.75 * interval {
            tooShort += 4
            if tooShort > 4 || gaps < 6 { adopt(gap) }
        } else if gap < 1.3 * interval {
            interval += (gap - interval) * (gaps < 18 ? 1 / (Float(gaps) + 2) : 1 / 20)
            unmatched = 0
            shortestSinceMatch = .infinity
            if tooShort > 0 { tooShort -= 1 }
        } else {
            unmatched += 1
            shortestSinceMatch = min(shortestSinceMatch, gap)
            let isSlowDown = isQuick && isSlowDown(after: gap)
            if unmatched >= 16 { adopt(shortestSinceMatch) }
            return isSlowDown
        }
        return false
    }

    /// Whether a gap longer than the quick interval newly shows that the beacon slows down.
    private mutating func isSlowDown(after gap: Float) -> Bool {
        let isSlow = gap >= max(PresenceTiming.slowGapSeconds, PresenceTiming.slowGapFactor * meanGap)
        if !isSlow || unmatched == 1 { slowDowns.endSlowGaps() }
        return isSlow && slowDowns.add(slowGap: gap)
    }

    private mutating func adopt(_ newInterval: Float) {
        interval = newInterval
        unmatched = 0
        tooShort = 0
        shortestSinceMatch = .infinity
    }
}

extension ArrivalModel {
    /// Longer than any interval, gap or leave timeout can become: 500 hours. It depends on no tuning constant, because
    /// the state of other versions must be readable.
    private static let mostSeconds: Float = 1_800_000

    /// Everything but `lastHeard`, which belongs to a clock that is not stored.
    func put(into writer: inout StateWriter) {
        statistics.put(into: &writer)
        trend.put(into: &writer)
        for seconds in [interval, meanGap, longestRecentGap, shortestSinceMatch, believable, leaveTimeout, learnedDuty]
        {
            writer.put(seconds)
        }
        writer.put(gaps)
        for count in [unsettled, unmatched, tooShort] { writer.put(count) }
        slowDowns.put(into: &writer)
    }

    /// - Parameter version: Of the state, `PresenceState.version` or less.
    init(from reader: inout StateReader, version: UInt8) throws(StateReader.Malformed) {
        statistics = try SilenceStatistics(from: &reader)
        trend = try SignalTrend(from: &reader)
        interval = try reader.read(in: 0...Self.mostSeconds)
        meanGap = try reader.read(in: 0...Self.mostSeconds)
        longestRecentGap = try reader.read(in: 0...Self.mostSeconds)
        shortestSinceMatch = try reader.read(in: 0...(.infinity))
        believable = try reader.read(in: 0...(.infinity))
        leaveTimeout = try reader.read(in: 0...Self.mostSeconds)
        learnedDuty = try reader.read(in: 0.001...1)
        gaps = try reader.read()
        unsettled = try reader.read()
        unmatched = try reader.read()
        tooShort = try reader.read()
        if version >= 3 { slowDowns = try SlowDownRecord(from: &reader) }
        lastHeard = 0
        // Another version may have had other constants: its values are read and limited to the present constants.
        leaveTimeout = max(leaveTimeout, PresenceTiming.floorSeconds)
        shortestSinceMatch = max(shortestSinceMatch, PresenceTiming.sameAdvertisementSeconds)
        // A tiny interval would divide a gap into an impossible number of advertisements.
        if interval > 0 { interval = max(interval, PresenceTiming.sameAdvertisementSeconds) }
        unsettled = min(unsettled, PresenceTiming.gapsToKnowRhythm)
        // The rules act, and count from 0 again, at 16 and above 4.
        unmatched = min(unmatched, 15)
        tooShort = min(tooShort, 4)
    }
}
