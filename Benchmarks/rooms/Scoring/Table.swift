import RoomRules

/// One line per rule.
enum Table {
    static func printHead(_ home: Home) {
        let changes = Score(sessions: home.sessions.map { SessionScore($0, []) }).changes
        print(
            "\n\(home.name): \(home.sessions.count) sessions, \(changes) changes; in brackets 5 to 95 % of "
                + "\(Bootstrap.draws) draws of sessions (of the delays: of changes), seed \(Bootstrap.seed)")
        print(line("rule", "time right", "false per hour", "p50 (s)", "p90 (s)", "never", "of each session"))
    }

    static func printRow(_ name: String, _ score: Score) {
        let bootstrap = Bootstrap(score)
        let delays = score.delays
        print(
            line(
                name, fixed(score.right, 3) + between(bootstrap.right, 2),
                fixed(score.falsePerHour, 1) + between(bootstrap.falsePerHour, 0),
                fixed(percentile(0.5, of: delays), 1) + between(bootstrap.median, 1),
                fixed(percentile(0.9, of: delays), 1), String(score.never),
                score.sessions.map { fixed($0.right, 2) }.joined(separator: " ")))
    }

    private static func between(_ interval: (Double, Double), _ digits: Int) -> String {
        " [\(fixed(interval.0, digits)) \(fixed(interval.1, digits))]"
    }

    private static func line(_ texts: String...) -> String { columns(texts, widths: [40, 19, 20, 14, 9, 7, 0]) }

    /// A line in which each text takes at least the width of its column, and is followed by a space.
    static func columns(_ texts: [String], widths: [Int]) -> String {
        zip(texts, widths).map { text, width in
            text + String(repeating: " ", count: max(1, width - text.count))
        }.joined()
    }
}

func fixed(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite else { return "-" }
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let whole = Int64((abs(value) * scale).rounded())
    let sign = value < 0 && whole > 0 ? "-" : ""
    guard digits > 0 else { return sign + String(whole) }
    let fraction = String(whole % Int64(scale))
    return sign + String(whole / Int64(scale)) + "." + String(repeating: "0", count: digits - fraction.count) + fraction
}
