import Presence

/// Scores the engine with many choices of the rule's constants, by receiver and interval, for `Benchmarks/presence/held-out`,
/// which fits the constants to some receivers and judges them by others.
///
/// Built by that script alone, from a copy of the engine in which the constants are variables.

/// A choice of the constants that decide how long a still beacon may be silent.
struct Choice {
    var savedByWaiting: Float
    var priorWeight: Float
    var decline: Float
    var recentGapFactor: Float
    var mostFalseLeaves = PresenceTiming.mostFalseLeaves

    /// What the engine is shipped with, read before anything is set.
    static let shipped = Choice(
        savedByWaiting: PresenceTiming.savedByWaiting, priorWeight: SilenceStatistics.priorWeight,
        decline: SilenceStatistics.decline, recentGapFactor: PresenceTiming.recentGapFactor)

    /// What is combined with each price of waiting.
    private static let others: [(priorWeight: Float, decline: Float, recentGapFactor: Float)] = [
        (4, 0.86, 1.5), (4, 0.93, 1.5), (4, 1, 1.5), (8, 0.86, 1.5), (8, 0.93, 1.5), (8, 1, 1.5), (16, 0.86, 1.5),
        (16, 0.93, 1.5), (16, 1, 1.5), (8, 0.93, 1.25), (8, 0.93, 2),
    ]

    /// The shipped choice, and a grid around it.
    static var all: [Choice] {
        var all = [shipped]
        for savedByWaiting: Float in [0.006, 0.01, 0.015, 0.02, 0.03, 0.045] {
            for (priorWeight, decline, recentGapFactor) in others {
                all.append(
                    Choice(
                        savedByWaiting: savedByWaiting, priorWeight: priorWeight, decline: decline,
                        recentGapFactor: recentGapFactor))
            }
        }
        for mostFalseLeaves: Float in [0.05, 0.03, 0.02, 0.01] {
            var choice = shipped
            choice.mostFalseLeaves = mostFalseLeaves
            all.append(choice)
        }
        return all
    }

    func set() {
        PresenceTiming.savedByWaiting = savedByWaiting
        SilenceStatistics.priorWeight = priorWeight
        SilenceStatistics.decline = decline
        PresenceTiming.recentGapFactor = recentGapFactor
        PresenceTiming.mostFalseLeaves = mostFalseLeaves
    }

    var text: String { "\(savedByWaiting) \(priorWeight) \(decline) \(recentGapFactor) \(mostFalseLeaves)" }
}

/// One line: the choice, the interval, what is scored, and the figures.
func line(_ choice: String, _ interval: Double, _ what: String, _ score: Score) -> String {
    "\(choice)\t\(interval)\t\(what)\t\(score.falseLeaves)\t\(score.hours)\t\(score.missed)\t\(score.median)"
        + "\t\(Score.quantile(0.5, of: score.silences))"
}

/// Stays by the share of the advertisements that their receiver heard.
let shares: [(name: String, below: Double)] = [
    ("heard under 60 %", 0.6), ("heard 60 to 75 %", 0.75), ("heard 75 to 90 %", 0.9), ("heard over 90 %", .infinity),
]

guard CommandLine.arguments.count == 4, let part = Int(CommandLine.arguments[2]),
    let parts = Int(CommandLine.arguments[3])
else {
    fail("usage: held-out RECORDING.csv PART PARTS; 0 1 is everything, -1 1 is the shipped choice alone")
}
let trace = Trace(path: CommandLine.arguments[1])
let stays = Stays(trace, interval: 0.455)
let workloads = [1, 4, 10, 20].map { stays.thinned(by: $0, name: "") }
let choices = part < 0 ? [Choice.shipped] : Choice.all
for (number, choice) in choices.enumerated() where part < 0 || number % parts == part {
    choice.set()
    let name = number == 0 ? "shipped" : choice.text
    for workload in workloads {
        // As many departures as Benchmarks/presence/run takes, at the same instants.
        let departures = max(4, 4000 / max(1, workload.series.count))
        var scores = trace.receivers.map { _ in Score() }
        var byShare = shares.map { _ in Score() }
        for (number, series) in workload.series.enumerated() {
            let score = scoreEngine(series, number: number, departures: departures)
            scores[series.receiver].add(score)
            let share = Double(series.times.count) / Double(max(1, series.sent))
            byShare[shares.firstIndex { share < $0.below } ?? shares.count - 1].add(score)
        }
        for (share, score) in zip(shares, byShare) { print(line(name, workload.interval, share.name, score)) }
        for (receiver, own) in zip(trace.receivers, scores) { print(line(name, workload.interval, receiver, own)) }
        for (left, receiver) in trace.receivers.enumerated() {
            var others = Score()
            for (other, score) in scores.enumerated() where other != left { others.add(score) }
            print(line(name, workload.interval, "all but \(receiver)", others))
        }
        var all = Score()
        for score in scores { all.add(score) }
        print(line(name, workload.interval, "all", all))
    }
}
