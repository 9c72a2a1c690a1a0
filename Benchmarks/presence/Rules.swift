import Glibc

/// A rule that gives a beacon up after a silence whose length it fixes at each sighting.
protocol SilenceRule {
    /// - Returns: seconds of silence after which the beacon is given up.
    mutating func hold(afterSightingAt time: Double) -> Double
}

/// The same silence for everybody: what most peers do, with 10 to 180 s.
struct FixedRule: SilenceRule {
    let seconds: Double
    mutating func hold(afterSightingAt time: Double) -> Double { seconds }
}

/// habluetooth's tracker of intervals: the longest of 16 gaps plus 5 s; 195 s until there are 16.
struct SixteenGapsRule: SilenceRule {
    private var gaps: [Double] = []
    private var last: Double?

    mutating func hold(afterSightingAt time: Double) -> Double {
        if let last {
            gaps.append(time - last)
            if gaps.count > 16 { gaps.removeFirst() }
        }
        last = time
        return gaps.count < 16 ? 195 : (gaps.max() ?? 190) + 5
    }
}

/// The sketch that began this: interval and share heard are learned; the beacon is gone when the chance of such
/// a silence falls under 1e-5 and it exceeds 1.5 times the longest gap of late.
struct SketchRule: SilenceRule {
    private var interval = 0.0
    private var share = 0.7
    private var longest = 0.0
    private var last: Double?

    mutating func hold(afterSightingAt time: Double) -> Double {
        guard let before = last else {
            last = time
            return 60
        }
        last = time
        let gap = time - before
        guard gap > 0.015 else { return current }
        if interval == 0 || gap < 0.75 * interval {
            interval = gap
        } else if gap < 1.3 * interval {
            interval += (gap - interval) / 20
        }
        let missed = max(0, (gap / interval).rounded() - 1)
        share += (1 / (missed + 1) - share) / 32
        longest = max(gap, longest * 0.97)
        return current
    }

    private var current: Double {
        let missed = log(1e-5) / log(1 - min(0.95, max(0.05, share)))
        return min(180, max(missed * interval, 1.5 * longest, 3))
    }
}

/// Knows the true interval and the true share heard of each series, and that losses are independent; gives up
/// when that would be false `perHour` times an hour.
struct OracleRule: SilenceRule {
    private let seconds: Double

    init(_ series: Series, interval: Double, perHour: Double) {
        let share = min(0.999, Double(series.times.count) / Double(max(1, series.sent)))
        let sightingsPerHour = 3600 * share / interval
        let missed = log(min(0.5, perHour / sightingsPerHour)) / log(1 - share)
        seconds = (missed.rounded(.up) + 0.2) * interval
    }

    mutating func hold(afterSightingAt time: Double) -> Double { seconds }
}
