/// What a rule did on a workload.
struct Score {
    var falseLeaves = 0
    var hours = 0.0
    /// Seconds from departure to leave, one for each departure that was noticed.
    var latencies: [Double] = []
    /// Seconds from the last sighting to the same leaves; the engine's alone.
    var silences: [Double] = []
    /// Departures not noticed within ten minutes.
    var missed = 0

    var falseLeavesPerHour: Double { Double(falseLeaves) / max(hours, 1e-9) }
    var median: Double { quantile(0.5) }
    var p95: Double { quantile(0.95) }

    func quantile(_ share: Double) -> Double { Self.quantile(share, of: latencies) }

    static func quantile(_ share: Double, of values: [Double]) -> Double {
        guard !values.isEmpty else { return .nan }
        let sorted = values.sorted()
        return sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
    }

    mutating func add(_ other: Score) {
        falseLeaves += other.falseLeaves
        hours += other.hours
        latencies += other.latencies
        silences += other.silences
        missed += other.missed
    }
}

/// Seconds at which a series is cut off, as if the beacon had left then: the same for every rule.
func departures(of series: Series, number: Int, count: Int) -> [Double] {
    guard let first = series.times.first, let last = series.times.last else { return [] }
    var random = SplitMix(seed: UInt64(number) &* 7919 &+ 1)
    return (0..<count).map { _ in first + random.unit() * (last - first) }.sorted()
}

/// Plays a workload to a rule.
func score(_ workload: Workload, departuresEach: Int, rule: (Series) -> some SilenceRule) -> Score {
    var score = Score(hours: workload.hours)
    for (number, series) in workload.series.enumerated() {
        var rule = rule(series)
        var cuts = departures(of: series, number: number, count: departuresEach)[...]
        for (index, time) in series.times.enumerated() {
            let next = index + 1 < series.times.count ? series.times[index + 1] : .infinity
            let end = time + rule.hold(afterSightingAt: time)
            while let cut = cuts.first, cut < next {
                cuts.removeFirst()
                if end - cut > 600 { score.missed += 1 } else { score.latencies.append(max(0, end - cut)) }
            }
            if next < .infinity, next > end { score.falseLeaves += 1 }
        }
    }
    return score
}
