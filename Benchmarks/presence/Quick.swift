import Beacon
import Presence

/// Quick beacons, which are held for some time in case they slow down at rest: before and after the engine knows
/// whether they do.

/// Another beacon of the same UUID.
private let sibling = BeaconID(uuid: benchmarkBeacon.uuid, major: 1, minor: 2)

/// An engine that has seen another beacon of the UUID slow down. It holds quick beacons as all earlier versions did.
private func makeHoldingEngine(at start: Double) -> PresenceEngine {
    var engine = makeEngine(at: start - 2000)
    for number in 0..<5000 {
        let seconds = number < 4900 ? Double(number) * 0.1 : 490 + Double(number - 4900) * 10
        let sighting = Sighting(
            beacon: sibling, measuredPower: MeasuredPower(dBm: -59), rssi: RSSI(reported: -70),
            receiver: Receiver(index: 0))
        _ = engine.run(until: start - 2000 + seconds)
        _ = engine.handle(.sighting(sighting), at: instant(start - 2000 + seconds))
    }
    _ = engine.run(until: start)
    return engine
}

/// Quick beacons that never slow down. The first hour of each series is not scored.
private func reportSteady(_ workload: Workload) {
    let learning = 3700.0
    let scored = workload.series.map { series in
        var later = series
        let first = series.times.firstIndex { $0 > learning } ?? series.times.endIndex
        later.times = Array(series.times[first...])
        later.rssi = Array(series.rssi[first...])
        later.duration -= learning
        later.sent = Int(later.duration / workload.interval)
        return later
    }
    let hours = scored.reduce(0) { $0 + $1.duration } / 3600
    print("\n\(workload.name), never slows down: \(fixed(hours, 0)) beacon-hours after the first")
    print("rule".padded(-36) + "false leaves/h".padded(15) + "median s".padded(10) + "p95 s".padded(8))
    for (name, make) in [
        ("after an hour of reception (new)", { makeEngine(at: $0) }),
        ("held in case it slows down (old)", makeHoldingEngine(at:)),
    ] as [(String, (Double) -> PresenceEngine)] {
        var score = Score()
        for (number, series) in workload.series.enumerated() {
            guard let start = series.times.first else { continue }
            var engine = make(start)
            for (time, rssi) in zip(series.times, series.rssi) where time <= learning {
                _ = engine.run(until: time.nextDown)
                _ = engine.handle(.sighting(sighting(rssi)), at: instant(time))
            }
            score.add(scoreEngine(scored[number], engine: engine, number: number, departures: 100))
        }
        print(
            name.padded(-36) + fixed(score.falseLeavesPerHour, 4).padded(15) + fixed(score.median, 1).padded(10)
                + fixed(score.p95, 1).padded(8))
    }
}

/// Quick beacons that are put to rest again and again, for twenty minutes after ninety.
private func reportSlowing(to slow: Double, heard: Double) {
    let (beacons, rounds) = (40, 6)
    var columns: [String] = []
    for make in [{ makeEngine(at: $0) }, makeHoldingEngine(at:)] as [(Double) -> PresenceEngine] {
        var first = 0
        var later = 0
        for number in 0..<beacons {
            var random = SplitMix(seed: UInt64(number) + 1)
            var engine = make(0)
            var time = 0.0
            for round in 0..<rounds {
                var leaves = 0
                for (interval, seconds) in [(0.1, 5400.0), (slow, 1200.0)] {
                    let end = time + seconds
                    var sightings = 0
                    while time < end {
                        time += interval + random.unit() * 0.01
                        guard random.unit() < heard else { continue }
                        let hasLeft = engine.run(until: time.nextDown) != nil
                        sightings += 1
                        // Later leaves are those of any slow beacon.
                        if hasLeft, interval == slow, sightings <= 2 { leaves += 1 }
                        _ = engine.handle(.sighting(sighting(-70)), at: instant(time))
                    }
                }
                if round == 0 { first += leaves } else { later += leaves }
            }
        }
        columns.append("\(first) of \(beacons)".padded(12) + "\(later) of \(beacons * (rounds - 1))".padded(12))
    }
    print("\(fixed(slow, 2)) s, \(fixed(heard * 100, 0)) % heard".padded(-24) + columns.joined())
}

func reportQuick() {
    for (name, heard, shadows) in [
        ("70 % heard, 0.1 s", 0.7, []),
        ("70 % heard in bursts, 0.1 s", 0.8, [TwoStateLoss.Shadow(share: 1, mean: 3, heard: 0.2)]),
        ("30 % heard, 0.1 s", 0.3, []),
    ] {
        let loss = TwoStateLoss(
            interval: 0.1, heardInClear: heard, clear: shadows.isEmpty ? .infinity : 15, shadows: shadows)
        let series = (0..<40).map { loss.series(hours: 11, seed: UInt64($0) + 1) }
        reportSteady(Workload(name: name, interval: 0.1, series: series))
    }
    print(
        "\nfalse leaves when a beacon slows down from 0.1 s, until it is heard twice: the first time, and later times")
    print(
        "slow rhythm".padded(-24) + "new: first".padded(12) + "later".padded(12) + "old: first".padded(12)
            + "later".padded(12))
    for slow in [1, 2, 5, 10.24] {
        for heard in [0.95, 0.85, 0.7] { reportSlowing(to: slow, heard: heard) }
    }
}
