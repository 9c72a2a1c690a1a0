package import Beacon

/// What is learned of one beacon at one receiver: its rhythm, its losses, and how long a silence is believable.
///
/// All times are listening time of that receiver.
package struct ArrivalModel: Hashable, Sendable, BitwiseCopyable {
    private var statistics = SilenceStatistics()
    /// Nanoseconds of listening time.
    package private(set) var lastHeard: Int64
    /// Of the signal's strength.
    package private(set) var trend = SignalTrend()
    /// Seconds between advertisements; 0: not known yet.
    package private(set) var interval: Float = 0
    /// Seconds between sightings, mean.
    private var meanGap: Float = 0
    /// Seconds; shrinks by 3 % with each sighting.
    package private(set) var longestRecentGap: Float = 0
    /// Shortest gap since one last agreed with the interval.
    private var shortestSinceMatch: Float = .infinity
    /// Seconds of silence that the statistics find believable, before floors and caps.
    private var believable: Float = .infinity
    /// Seconds of silence after which the beacon is gone.
    package private(set) var hold: Float = PresenceTiming.unknownRhythmSeconds
    /// Scan duty while the statistics were made, 0.01 … 1.
    private var learnedDuty: Float
    private var gaps: UInt16 = 0
    /// Gaps that make the rhythm known.
    private var unsettled: UInt8 = PresenceTiming.gapsToKnowRhythm
    /// Gaps since one last agreed with the interval.
    private var unmatched: UInt8 = 0
    /// Gaps shorter than the interval, of late, in quarters.
    private var tooShort: UInt8 = 0

    package init(at listened: Int64, rssi: RSSI?, duty: Float) {
        lastHeard = listened
        if let rssi { trend.add(rssi, after: 0) }
        learnedDuty = duty
    }

    /// Share of its advertisements that this receiver hears, 0 … 1.
    package var shareHeard: Float { statistics.shareHeard }

    /// Whether the rhythm has been seen often enough to go by.
    package var isRhythmKnown: Bool { unsettled == 0 }

    /// Moves `lastHeard` when the listening clock changes its origin, or counts silence anew.
    package mutating func setLastHeard(_ listened: Int64) { lastHeard = listened }

    /// The beacon was heard.
    ///
    /// - Returns: `hold` and `interval`, as they are now.
    mutating func hear(at listened: Int64, rssi: RSSI?, duty: Float) -> (hold: Float, interval: Float) {
        learn(at: listened, rssi: rssi, duty: duty)
        return (hold, interval)
    }

    @inline(__always)
    private mutating func learn(at listened: Int64, rssi: RSSI?, duty: Float) {
        let gap = Float(max(0, listened - lastHeard)) * 1e-9
        lastHeard = max(lastHeard, listened)
        if let rssi { trend.add(rssi, after: gap) }
        guard gap >= PresenceTiming.sameAdvertisementSeconds else { return }
        guard gap <= PresenceTiming.capSeconds / duty else {
            // It was away. That says nothing about how it is heard when it is here.
            unsettled = PresenceTiming.gapsToKnowRhythm
            decide(duty: duty)
            return
        }
        learnInterval(from: gap)
        // Most gaps are one interval long: no division for them.
        let missing = gap < 1.5 * interval ? 0 : min((gap / interval).rounded() - 1, 10_000)
        statistics.addGap(missing: Int(missing))
        longestRecentGap = max(gap, longestRecentGap * 0.97)
        learnedDuty += (duty - learnedDuty) / 64
        settle(after: gap)
        // Wraps to where every rule for young links is long past.
        gaps = gaps == .max ? 1 << 15 : gaps + 1
        // One gap moves the counts little: the old answer stands until some have come or an unusual one
        // has, which spares most of the work.
        if missing > 2 || gaps < 32 || gaps & 15 == 0 || unsettled > 0 {
            decide(duty: duty)
        } else if missing > 0 {
            bound(duty: duty)
        }
    }

    /// Works the hold out anew, after the scan duty changed.
    package mutating func decide(duty: Float) {
        guard interval > 0 else { return }
        statistics.dropTraces()
        let cap = PresenceTiming.capSeconds / duty
        let limit = Int(min(cap / interval, 100_000)) + 1
        let odds = SilenceStatistics.Odds(
            meanGap: meanGap, interval: interval, motion: trend.motion,
            hearing: min(1, duty / learnedDuty))
        // A fifth of an interval is room for the random delay of 0–10 ms and a wrong estimate of the interval.
        believable = (Float(statistics.patience(odds, limit: limit)) + 0.2) * interval
        bound(duty: duty)
    }

    /// Holds the silence that is believable within floors and caps.
    private mutating func bound(duty: Float) {
        var seconds = max(believable, PresenceTiming.recentGapFactor * longestRecentGap, PresenceTiming.floorSeconds)
        if interval <= PresenceTiming.quickIntervalSeconds { seconds = max(seconds, PresenceTiming.quickHoldSeconds) }
        if unsettled > 0 { seconds = max(seconds, PresenceTiming.unknownRhythmSeconds) }
        hold = min(seconds, PresenceTiming.capSeconds / duty)
    }

    /// A silence that the statistics had ruled out, and yet the beacon is back, refutes them: what was learned
    /// must not decide until the rhythm has been seen anew.
    @inline(__always)
    private mutating func settle(after gap: Float) {
        if gap > max(believable, PresenceTiming.floorSeconds) {
            unsettled = PresenceTiming.gapsToKnowRhythm
        } else if unsettled > 0 {
            unsettled -= 1
        }
    }

    /// Follows the interval: by the gaps that agree with it, down after two that are clearly shorter, up after
    /// sixteen that are all longer (at 30 % reception, so long a run is one in 300).
    @inline(__always)
    private mutating func learnInterval(from gap: Float) {
        guard gaps > 0 else {
            interval = gap
            meanGap = gap
            return
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
            if unmatched >= 16 { adopt(shortestSinceMatch) }
        }
    }

    private mutating func adopt(_ newInterval: Float) {
        interval = newInterval
        unmatched = 0
        tooShort = 0
        shortestSinceMatch = .infinity
    }
}

extension ArrivalModel {
    /// Longer than any interval, gap or hold can become: 500 hours. It follows from no tuning constant, because what
    /// another version wrote must be read.
    private static let mostSeconds: Float = 1_800_000

    /// Everything but `lastHeard`, which belongs to a clock that is not kept.
    func put(into writer: inout StateWriter) {
        statistics.put(into: &writer)
        trend.put(into: &writer)
        for seconds in [interval, meanGap, longestRecentGap, shortestSinceMatch, believable, hold, learnedDuty] {
            writer.put(seconds)
        }
        writer.put(gaps)
        for count in [unsettled, unmatched, tooShort] { writer.put(count) }
    }

    init(from reader: inout StateReader) throws(StateReader.Malformed) {
        statistics = try SilenceStatistics(from: &reader)
        trend = try SignalTrend(from: &reader)
        interval = try reader.take(in: 0...Self.mostSeconds)
        meanGap = try reader.take(in: 0...Self.mostSeconds)
        longestRecentGap = try reader.take(in: 0...Self.mostSeconds)
        shortestSinceMatch = try reader.take(in: 0...(.infinity))
        believable = try reader.take(in: 0...(.infinity))
        hold = try reader.take(in: 0...Self.mostSeconds)
        learnedDuty = try reader.take(in: 0.001...1)
        gaps = try reader.take()
        unsettled = try reader.take()
        unmatched = try reader.take()
        tooShort = try reader.take()
        lastHeard = 0
        // Another version may have had other constants: what it wrote is read, and brought within the present ones.
        hold = max(hold, PresenceTiming.floorSeconds)
        shortestSinceMatch = max(shortestSinceMatch, PresenceTiming.sameAdvertisementSeconds)
        // An interval of next to nothing would divide a gap into more advertisements than there can be.
        if interval > 0 { interval = max(interval, PresenceTiming.sameAdvertisementSeconds) }
        unsettled = min(unsettled, PresenceTiming.gapsToKnowRhythm)
        // The rules act, and begin to count anew, at 16 and above 4.
        unmatched = min(unmatched, 15)
        tooShort = min(tooShort, 4)
    }
}
