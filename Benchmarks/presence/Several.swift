import Beacon
import Presence

/// Several receivers of one gateway that receive the same stay.
struct Group {
    /// By receiver.
    let series: [Series]

    /// All sightings in their order.
    var sightings: [(time: Double, rssi: Int, receiver: Int)] {
        series.enumerated()
            .flatMap { receiver, series in zip(series.times, series.rssi).map { ($0, $1, receiver) } }
            .sorted { $0.0 < $1.0 }
    }
}

/// Receivers that decide when a beacon has left.
private protocol Receivers {
    /// - Returns: when the beacon left, in seconds; nil if it did not.
    mutating func run(until end: Double) -> Double?
    mutating func hear(_ rssi: Int, receiver: Int, at time: Double)
}

/// One engine, which combines what its receivers hear.
private struct Together: Receivers {
    private var engine: PresenceEngine

    init(count: Int, at start: Double) {
        engine = makeEngine(at: start)
        for receiver in 1..<count {
            _ = engine.handle(.listening(Receiver(index: UInt16(receiver)), true), at: instant(start))
        }
    }

    mutating func run(until end: Double) -> Double? { engine.run(until: end) }

    mutating func hear(_ rssi: Int, receiver: Int, at time: Double) {
        _ = engine.handle(.sighting(sighting(rssi, receiver: receiver)), at: instant(time))
    }
}

/// The rule of earlier versions: the beacon leaves when the last receiver gives it up.
private struct OneByOne: Receivers {
    private var engines: [PresenceEngine]
    private var lefts: [Double?]

    init(count: Int, at start: Double) {
        engines = (0..<count).map { _ in makeEngine(at: start) }
        // None has heard it yet.
        lefts = Array(repeating: start, count: count)
    }

    mutating func run(until end: Double) -> Double? {
        guard lefts.contains(where: { $0 == nil }) else { return nil }
        for receiver in engines.indices {
            if let left = engines[receiver].run(until: end) { lefts[receiver] = left }
        }
        let last = lefts.compactMap(\.self)
        return last.count == lefts.count ? last.max() : nil
    }

    mutating func hear(_ rssi: Int, receiver: Int, at time: Double) {
        lefts[receiver] = nil
        _ = engines[receiver].handle(.sighting(sighting(rssi)), at: instant(time))
    }
}

private func score(
    _ groups: [Group], departuresEach: Int, _ make: (Int, Double) -> some Receivers
) -> Score {
    var score = Score()
    for (number, group) in groups.enumerated() {
        let sightings = group.sightings
        guard let start = sightings.first?.time, let last = sightings.last?.time else { continue }
        score.hours += (last - start) / 3600
        var receivers = make(group.series.count, start)
        let merged = Series(times: sightings.map(\.time))
        var cuts = departures(of: merged, number: number, count: departuresEach)[...]
        for (index, heard) in sightings.enumerated() {
            if index > 0, receivers.run(until: heard.time.nextDown) != nil { score.falseLeaves += 1 }
            receivers.hear(heard.rssi, receiver: heard.receiver, at: heard.time)
            let next = index + 1 < sightings.count ? sightings[index + 1].time : .infinity
            while let cut = cuts.first, cut < next {
                cuts.removeFirst()
                var copy = receivers
                if let left = copy.run(until: cut + 600) {
                    score.latencies.append(max(0, left - cut))
                } else {
                    score.missed += 1
                }
            }
        }
    }
    return score
}

/// Prints one receiver beside three, under the old rule and the new one.
///
/// The groups of three are the rows of the hall, whose receivers are neighbours, and groups whose receivers are apart.
func reportSeveral(_ stays: Stays, receivers: [String]) {
    let order = receivers.indices.sorted { receivers[$0] < receivers[$1] }
    let third = order.count / 3
    let rows = (0..<third).map { row in (0..<3).map { order[3 * row + $0] } }
    let apart = (0..<third).map { first in (0..<3).map { order[first + third * $0] } }
    for step in [1, 4, 10, 20] {
        print("\nthree receivers, \(fixed(0.455 * Double(step), 2)) s")
        print(
            "receivers, rule".padded(-36) + "false leaves/h".padded(15) + "median s".padded(10) + "p95 s".padded(8)
                + "missed".padded(8))
        let single = stays.thinned(by: step, name: "")
        let cuts = max(4, 4000 / max(1, single.series.count))
        print(row("one", scoreEngine(single, departuresEach: cuts)))
        for (name, members) in [("neighbours", rows), ("apart", apart)] {
            let groups = stays.groups(of: members, thinnedBy: step)
            print(row("three \(name), one by one (old)", score(groups, departuresEach: cuts, OneByOne.init)))
            print(row("three \(name), together (new)", score(groups, departuresEach: cuts, Together.init)))
        }
    }
}

private func row(_ name: String, _ score: Score) -> String {
    name.padded(-36) + fixed(score.falseLeavesPerHour, 4).padded(15) + fixed(score.median, 1).padded(10)
        + fixed(score.p95, 1).padded(8) + "\(score.missed)".padded(8)
}
