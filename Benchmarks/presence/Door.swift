import Beacon
import Presence

/// When each beacon went through the door.
struct DoorTruth {
    struct Crossing {
        let time: Double
        let isInside: Bool
    }

    /// The state from each time on, by name of the beacon; equal neighbours are merged.
    private(set) var crossings: [String: [Crossing]] = [:]

    /// Reads `t_seconds,beacon,state`.
    init(path: String) {
        for line in readText(path).split(separator: "\n").dropFirst() {
            let fields = line.split(separator: ",")
            guard fields.count == 3, let time = Double(fields[0]) else { fail("\(path): not understood: \(line)") }
            let isInside = fields[2].hasPrefix("inside")
            if crossings[String(fields[1])]?.last?.isInside == isInside { continue }
            crossings[String(fields[1]), default: []].append(Crossing(time: time, isInside: isInside))
        }
    }

    func isInside(_ beacon: String, at time: Double) -> Bool {
        crossings[beacon]?.last { $0.time <= time }?.isInside ?? true
    }
}

/// A rule that tells from the signal alone on which side a beacon is: the level it goes by.
private protocol LevelFilter {
    mutating func level(_ sample: Double, at time: Double) -> Double
}

private struct RawLevel: LevelFilter {
    mutating func level(_ sample: Double, at time: Double) -> Double { sample }
}

/// room-assistant: Kalman filter, process noise 0.008, measurement noise 4.
private struct KalmanLevel: LevelFilter {
    private var estimate: Double?
    private var variance = 4.0

    mutating func level(_ sample: Double, at time: Double) -> Double {
        guard let before = estimate else {
            estimate = sample
            return sample
        }
        variance += 0.008
        let gain = variance / (variance + 4)
        let now = before + gain * (sample - before)
        variance *= 1 - gain
        estimate = now
        return now
    }
}

/// android-beacon-library: mean over 20 s without the top and bottom tenth. With 15 s and a fence for outliers it
/// is about what ESPresense does.
private struct WindowLevel: LevelFilter {
    let seconds: Double
    private var samples: [(time: Double, value: Double)] = []

    init(seconds: Double) { self.seconds = seconds }

    mutating func level(_ sample: Double, at time: Double) -> Double {
        samples.append((time, sample))
        samples.removeAll { $0.time < time - seconds }
        let sorted = samples.map(\.value).sorted()
        let cut = sorted.count / 10
        let kept = sorted[cut..<(sorted.count - cut)]
        return kept.reduce(0, +) / Double(kept.count)
    }
}

private struct DoorScore {
    var found = 0
    var crossings = 0
    var wrong = 0
    var hours = 0.0

    /// Counts the changes that a rule saw in one run against the truth: a crossing is found if a change to the
    /// right side comes from 2 s before to 5 s after the photo sensor; every other change is false.
    mutating func add(_ changes: [(time: Double, isInside: Bool)], _ truth: [DoorTruth.Crossing], seconds: Double) {
        var used: Set<Int> = []
        for crossing in truth.dropFirst() {
            crossings += 1
            let match = changes.indices.first {
                !used.contains($0) && changes[$0].isInside == crossing.isInside
                    && (-2...5).contains(changes[$0].time - crossing.time)
            }
            guard let match else { continue }
            used.insert(match)
            found += 1
        }
        // The first change finds out where the beacon is.
        if let first = changes.first, first.time < 10 { used.insert(0) }
        wrong += changes.count - used.count
        hours += seconds / 3600
    }

    var text: String { ("\(found)/\(crossings)").padded(8) + fixed(Double(wrong) / hours, 0).padded(6) }

    /// Harmonic mean of the share found and the share right.
    var balance: Double {
        let right = Double(found) / Double(max(1, found + wrong))
        let share = Double(found) / Double(max(1, crossings))
        return 2 * right * share / max(right + share, 1e-9)
    }
}

/// Plays the door to the engine and to the peers' filters, and prints what each receiver could see.
///
/// Two numbers are given to each rule: the mean level inside and outside. The peers cut in the middle; the
/// engine enters two thirds of the way up, and leaves two thirds of the way down.
func reportDoor(_ trace: Trace, truth: DoorTruth) {
    let rules = ["this gateway", "cut", "Kalman", "20 s average", "15 s average"]
    var totals = rules.map { _ in DoorScore() }
    var balances = rules.map { _ in 0.0 }
    print("\ndoor: crossings found within 5 s, and false changes per hour, at each receiver")
    print("receiver".padded(-10) + rules.map { $0.padded(16) }.joined())
    for (receiver, name) in trace.receivers.enumerated().sorted(by: { $0.element < $1.element }) {
        var scores = rules.map { _ in DoorScore() }
        let rows = trace.rows.filter { $0.receiver == receiver }
        let (inside, outside) = meanLevels(rows, trace, truth)
        for (_, run) in Dictionary(grouping: rows, by: \.beacon).sorted(by: { $0.key < $1.key }) {
            guard let first = run.first, let last = run.last else { continue }
            let crossings = truth.crossings[trace.beacons[first.beacon]] ?? []
            let changes = [
                engineChanges(run, inside, outside), changes(run, inside, outside, RawLevel()),
                changes(run, inside, outside, KalmanLevel()), changes(run, inside, outside, WindowLevel(seconds: 20)),
                changes(run, inside, outside, WindowLevel(seconds: 15)),
            ]
            for rule in rules.indices {
                scores[rule].add(changes[rule], crossings, seconds: last.time - first.time)
                totals[rule].add(changes[rule], crossings, seconds: last.time - first.time)
            }
        }
        for rule in rules.indices { balances[rule] += scores[rule].balance / Double(trace.receivers.count) }
        print(name.padded(-10) + scores.map { $0.text.padded(16) }.joined())
    }
    print("all".padded(-10) + totals.map { $0.text.padded(16) }.joined())
    print("balance".padded(-10) + balances.map { fixed($0, 3).padded(16) }.joined())
}

private func meanLevels(_ rows: [Row], _ trace: Trace, _ truth: DoorTruth) -> (inside: Double, outside: Double) {
    var sums = [0.0, 0.0]
    var counts = [0.0, 0.0]
    for row in rows {
        let side = truth.isInside(trace.beacons[row.beacon], at: row.time) ? 0 : 1
        sums[side] += Double(row.rssi)
        counts[side] += 1
    }
    return (sums[0] / max(1, counts[0]), sums[1] / max(1, counts[1]))
}

private func changes(
    _ run: [Row], _ inside: Double, _ outside: Double, _ filter: some LevelFilter
) -> [(time: Double, isInside: Bool)] {
    var filter = filter
    var state: Bool?
    var changes: [(time: Double, isInside: Bool)] = []
    for row in run {
        let isStrong = filter.level(Double(row.rssi), at: row.time) >= (inside + outside) / 2
        let isInside = isStrong == (inside > outside)
        if state != isInside { changes.append((row.time, isInside)) }
        state = isInside
    }
    return changes
}

/// Near means inside where the beacon is stronger inside, and outside where it is stronger there.
private func engineChanges(_ run: [Row], _ inside: Double, _ outside: Double) -> [(time: Double, isInside: Bool)] {
    let (low, high) = (min(inside, outside), max(inside, outside))
    let enter = RSSI(reported: Int8((low + (high - low) * 2 / 3).rounded()))
    let leave = RSSI(reported: Int8((low + (high - low) / 3).rounded()))
    guard let start = run.first?.time else { return [] }
    var engine = makeEngine(at: start, enter: enter, leave: leave)
    var changes: [(time: Double, isInside: Bool)] = []
    let isNearInside = inside > outside
    for row in run {
        if let left = engine.run(until: row.time.nextDown) { changes.append((left, !isNearInside)) }
        for effect in engine.handle(.sighting(sighting(row.rssi)), at: instant(row.time)) {
            switch effect {
            case .entered: changes.append((row.time, isNearInside))
            case .left: changes.append((row.time, !isNearInside))
            case .dropped: break
            }
        }
    }
    return changes
}
