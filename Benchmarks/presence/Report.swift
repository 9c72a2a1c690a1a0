/// One rule's place in the picture.
struct Point {
    let name: String
    let score: Score
}

/// All that was found out about one workload.
struct Panel {
    let workload: Workload
    let points: [Point]
    /// Fixed time-outs of many lengths.
    let fixedCurve: [Score]
    /// The rule that knows the truth, at many prices.
    let oracleCurve: [Score]
}

/// Plays a workload to every rule, and prints the table.
func report(_ workload: Workload) -> Panel {
    let cuts = max(4, 4000 / max(1, workload.series.count))
    var points = [Point(name: "this gateway", score: scoreEngine(workload, departuresEach: cuts))]
    points.append(Point(name: "sketch", score: score(workload, departuresEach: cuts) { _ in SketchRule() }))
    points.append(
        Point(name: "longest of 16 + 5 s", score: score(workload, departuresEach: cuts) { _ in SixteenGapsRule() }))
    for (seconds, who) in [
        (10.0, "running average, exit 10 s"), (30, "30 s"), (60, "60 s; Kalman, 60 s"), (180, "180 s"),
    ] {
        points.append(
            Point(name: who, score: score(workload, departuresEach: cuts) { _ in FixedRule(seconds: seconds) }))
    }
    let fixedCurve = [2.0, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 100, 120, 150, 180].map {
        seconds in
        score(workload, departuresEach: cuts) { _ in FixedRule(seconds: seconds) }
    }
    let oracleCurve = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5].map { perHour in
        score(workload, departuresEach: cuts) { OracleRule($0, interval: workload.interval, perHour: perHour) }
    }
    print("\n\(workload.name): \(fixed(workload.hours, 0)) beacon-hours, interval \(fixed(workload.interval, 3)) s")
    print(
        "rule".padded(-28) + "false leaves/h".padded(15) + "median s".padded(10) + "p95 s".padded(8)
            + "missed".padded(8))
    for point in points { print(row(point.name, point.score)) }
    for (perHour, score) in zip([0.002, 0.02, 0.2], [oracleCurve[2], oracleCurve[5], oracleCurve[8]]) {
        print(row("oracle, \(perHour)/h", score))
    }
    let own = points[0].score
    let better = points.dropFirst().filter {
        $0.score.falseLeavesPerHour <= own.falseLeavesPerHour && $0.score.median < own.median
            || $0.score.falseLeavesPerHour < own.falseLeavesPerHour && $0.score.median <= own.median
    }
    print(
        better.isEmpty ? "no rule is better on both" : "better on both: " + better.map(\.name).joined(separator: ", "))
    return Panel(workload: workload, points: points, fixedCurve: fixedCurve, oracleCurve: oracleCurve)
}

private func row(_ name: String, _ score: Score) -> String {
    name.padded(-28) + fixed(score.falseLeavesPerHour, 4).padded(15) + fixed(score.median, 1).padded(10)
        + fixed(score.p95, 1).padded(8) + "\(score.missed)".padded(8)
}
