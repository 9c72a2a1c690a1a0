/// How the level between a gateway and a neighbour has changed.
struct LinkChange: Sendable {
    let other: Int
    let decibels: Float
    let variance: Float

    func deviates(_ tuning: LevelSurveyTuning) -> Bool {
        let size = abs(decibels)
        return size >= tuning.leastChange && size * size >= tuning.deviations * tuning.deviations * variance
    }
}
