import Base
import Beacon
import Presence
import Regions

let benchmarkBeacon = BeaconID(
    uuid: BeaconUUID(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c_0d0e_0f10), major: 1, minor: 1)
let benchmarkKey = RegionKey(tracker: 0, rid: "region")

func instant(_ seconds: Double) -> MonotonicInstant {
    // An hour ahead, so that a trace may begin before its zero.
    MonotonicInstant(nanoseconds: Int64(((seconds + 3600) * 1e9).rounded()))
}

func sighting(_ rssi: Int, receiver: Int = 0) -> Sighting {
    Sighting(
        beacon: benchmarkBeacon, measuredPower: MeasuredPower(dBm: -59),
        rssi: Int8(exactly: rssi).flatMap { RSSI(reported: $0) }, receiver: Receiver(index: UInt16(receiver)))
}

/// An engine with one region and one receiver that listens.
func makeEngine(at start: Double, enter: RSSI? = nil, leave: RSSI? = nil) -> PresenceEngine {
    var engine = PresenceEngine()
    let region = MonitoredRegion(
        key: benchmarkKey, pattern: BeaconPattern(uuid: benchmarkBeacon.uuid), leaveRule: .auto, enterRSSI: enter,
        leaveRSSI: leave)
    _ = engine.handle(.regions([region]), at: instant(start))
    _ = engine.handle(.listening(Receiver(index: 0), true), at: instant(start))
    return engine
}

extension PresenceEngine {
    /// Lets time run on, as the daemon would.
    ///
    /// - Returns: when the region was left, in seconds; nil if it was not.
    mutating func run(until end: Double) -> Double? {
        var left: Double?
        while let deadline = nextDeadline, deadline <= instant(end) {
            for case .left in handle(.tick, at: deadline) { left = Double(deadline.nanoseconds) / 1e9 - 3600 }
        }
        return left
    }
}

/// Plays a workload to the real engine, each series to a new one.
func scoreEngine(_ workload: Workload, departuresEach: Int) -> Score {
    var score = Score()
    for (number, series) in workload.series.enumerated() {
        score.add(scoreEngine(series, number: number, departures: departuresEach))
    }
    score.hours = workload.hours
    return score
}

/// Plays a series to a new engine.
///
/// - Parameter number: Of the series in its workload; it decides when the beacon departs.
func scoreEngine(_ series: Series, number: Int, departures count: Int) -> Score {
    guard let start = series.times.first else { return Score(hours: series.duration / 3600) }
    return scoreEngine(series, engine: makeEngine(at: start), number: number, departures: count)
}

/// Plays a series to an engine.
///
/// - Parameter patience: Seconds in which a departure must be noticed.
func scoreEngine(
    _ series: Series, engine: PresenceEngine, number: Int, departures count: Int, patience: Double = 600
) -> Score {
    var score = Score(hours: series.duration / 3600)
    var engine = engine
    var cuts = departures(of: series, number: number, count: count)[...]
    for (index, time) in series.times.enumerated() {
        if index > 0, engine.run(until: time.nextDown) != nil { score.falseLeaves += 1 }
        _ = engine.handle(.sighting(sighting(series.rssi[index])), at: instant(time))
        let next = index + 1 < series.times.count ? series.times[index + 1] : .infinity
        while let cut = cuts.first, cut < next {
            cuts.removeFirst()
            var copy = engine
            if let left = copy.run(until: cut + patience) {
                score.latencies.append(max(0, left - cut))
                score.silences.append(max(0, left - time))
            } else {
                score.missed += 1
            }
        }
    }
    return score
}
