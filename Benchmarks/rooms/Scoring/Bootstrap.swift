import RoomRules

/// How far the figures of a home could have come out otherwise: sessions are drawn again, with replacement.
struct Bootstrap {
    /// Of time right, of false changes per hour, and of the delays' median: 5th and 95th percentile.
    let right: (Double, Double)
    let falsePerHour: (Double, Double)
    let median: (Double, Double)

    static let draws = 2000
    static let seed: UInt64 = 19

    init(_ score: Score) {
        var random = Random(seed: Self.seed)
        var (right, falsePerHour, median): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<Self.draws {
            let drawn = Score(sessions: score.sessions.map { _ in score.sessions[random.below(score.sessions.count)] })
            right.append(drawn.right)
            falsePerHour.append(drawn.falsePerHour)
            let delays = score.delays.map { _ in score.delays[random.below(score.delays.count)] }
            median.append(percentile(0.5, of: delays.sorted()))
        }
        self.right = Self.interval(right)
        self.falsePerHour = Self.interval(falsePerHour)
        self.median = Self.interval(median)
    }

    /// Of the mean of homes, or of any other value of them: 5th and 95th percentile. Homes are drawn again, with replacement.
    static func interval<Home>(of homes: [Home], _ value: ([Home]) -> Double) -> (Double, Double) {
        var random = Random(seed: seed)
        return interval((0..<draws).map { _ in value(homes.map { _ in homes[random.below(homes.count)] }) })
    }

    private static func interval(_ values: [Double]) -> (Double, Double) {
        let sorted = values.sorted()
        return (percentile(0.05, of: sorted), percentile(0.95, of: sorted))
    }
}
