import Beacon
import Presence

/// A radio that listens for a part of the time: recordings, thinned to what falls into the windows of a scan.

/// Shares of the time. The window is in units of 0.625 ms, as `ScanDuty` sets it: 96, 48, 24, 10 of 96.
private let duties: [(share: Double, window: Int)] = [(1, 96), (0.5, 48), (0.25, 24), (10.0 / 96, 10)]
/// Seconds. The scan interval of the gateway at each share.
private let scanInterval = 0.06

/// Plays stays, and quick beacons of our own making, at each share.
func reportDuty(_ stays: Stays, path: String) {
    print("\n\(path): what falls into the windows of a scan interval of 60 ms; the engine knows the duty")
    print(heading)
    for step in [1, 2, 4, 10, 20] {
        let workload = stays.thinned(by: step, name: "\(fixed(0.455 * Double(step), 2)) s")
        for duty in duties {
            let heard = workload.heard(window: duty.window)
            let score = score(heard, duty: duty.share, after: 0, departures: max(4, 4000 / max(1, heard.series.count)))
            print(line(workload.name, duty.share, score, missedAfter: 600 / duty.share))
        }
    }
}

/// Beacons of 100 ms and up to 10 ms more, of which 70 % arrive while the radio listens. The first hour, in which the engine learns
/// that they never slow down, is not scored.
func reportQuickDuty() {
    print("\nbeacons of 100 ms that never slow down, 70 % heard while the radio listens, after the first hour")
    print(heading)
    for duty in duties {
        var series: [Series] = []
        for number in 0..<60 {
            var random = SplitMix(seed: UInt64(number) &* 31 &+ 5)
            var one = Series(duration: 14_400)
            var time = random.unit() * scanInterval
            while time < one.duration {
                let isHeard = random.unit() < 0.7
                if isHeard, isInWindow(time, window: duty.window, phase: 0) {
                    one.times.append(time)
                    one.rssi.append(-70)
                }
                one.sent += 1
                time += 0.1 + random.unit() * 0.01
            }
            series.append(one)
        }
        let workload = Workload(name: "0.1 s", interval: 0.105, series: series)
        print(
            line(
                "0.1 s", duty.share, score(workload, duty: duty.share, after: 3700, departures: 60),
                missedAfter: 600 / duty.share))
    }
}

private func isInWindow(_ time: Double, window: Int, phase: Double) -> Bool {
    (time + phase).truncatingRemainder(dividingBy: scanInterval) < Double(window) * 0.000_625
}

extension Workload {
    /// What a receiver hears whose scan began at a random time.
    fileprivate func heard(window: Int) -> Workload {
        var random = SplitMix(seed: 21)
        let heard = series.compactMap { series -> Series? in
            let phase = random.unit() * scanInterval
            var heard = series
            heard.times = []
            heard.rssi = []
            for (time, rssi) in zip(series.times, series.rssi) where isInWindow(time, window: window, phase: phase) {
                heard.times.append(time)
                heard.rssi.append(rssi)
            }
            return heard.times.isEmpty ? nil : heard
        }
        return Workload(name: name, interval: interval, series: heard)
    }
}

/// Plays each series to a new engine that knows the duty.
///
/// - Parameters:
///   - begin: Seconds of a series that are played and not scored.
///   - count: Departures of each series.
private func score(_ workload: Workload, duty: Double, after begin: Double, departures count: Int) -> Score {
    var score = Score()
    for (number, series) in workload.series.enumerated() {
        guard let start = series.times.first else { continue }
        var engine = makeEngine(at: start)
        _ = engine.handle(.scanDuty(Receiver(index: 0), duty), at: instant(start))
        var scored = series
        if begin > 0 {
            let first = series.times.firstIndex { $0 > begin } ?? series.times.endIndex
            for (time, rssi) in zip(series.times[..<first], series.rssi[..<first]) {
                _ = engine.run(until: time.nextDown)
                _ = engine.handle(.sighting(sighting(rssi)), at: instant(time))
            }
            scored.times = Array(series.times[first...])
            scored.rssi = Array(series.rssi[first...])
            scored.duration -= begin
        }
        score.add(scoreEngine(scored, engine: engine, number: number, departures: count, patience: 600 / duty))
    }
    return score
}

private let heading =
    "interval".padded(-10) + "duty".padded(6) + "beacon-hours".padded(14) + "false leaves/h".padded(16)
    + "median s".padded(10)
    + "p95 s".padded(8) + "missed".padded(8)

private func line(_ name: String, _ duty: Double, _ score: Score, missedAfter: Double) -> String {
    name.padded(-10) + "\(Int((duty * 100).rounded())) %".padded(6) + fixed(score.hours, 0).padded(14)
        + fixed(score.falseLeavesPerHour, 4).padded(16) + fixed(score.median, 1).padded(10)
        + fixed(score.p95, 1).padded(8)
        + "  \(score.missed) in \(fixed(missedAfter, 0)) s"
}
