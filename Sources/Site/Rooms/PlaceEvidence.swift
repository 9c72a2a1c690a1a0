/// What the neighbours of a gateway say of its place after a block.
struct PlaceEvidence: Sendable {
    let deviating: Int
    let neighbours: Int
    /// Median of the changes, dB.
    let decibels: Float
    /// How much more probable the changes are if the gateway was moved than if it was not, natural logarithm.
    let ofMove: Float
    /// The same if it was moved or covered: a person who sits before it covers it, too.
    let ofChange: Float
    /// Whether something before the gateway explains the changes better than another place of it.
    let isCover: Bool

    /// nil if there are too few neighbours to tell the gateway from them.
    init?(of links: [LinkChange], _ tuning: LevelSurveyTuning) {
        guard links.count >= tuning.leastNeighbours else { return nil }
        var (usual, moved, covered, uncovered): (Float, Float, Float, Float) = (0, 0, 0, 0)
        for link in links {
            let density = { (mean: Float, spread: Float) in
                Self.density(link.decibels - mean, variance: link.variance + spread * spread)
            }
            let disturbance = link.decibels > 0 ? tuning.rise : tuning.disturbance
            usual += FixedMath.log(
                (1 - tuning.disturbed) * density(0, 0) + tuning.disturbed * density(0, disturbance))
            moved += FixedMath.log(density(0, tuning.move))
            covered += FixedMath.log(
                (1 - tuning.shadowed) * density(0, 0) + tuning.shadowed * density(-tuning.shadow, tuning.shadowSpread))
            uncovered += FixedMath.log(
                (1 - tuning.shadowed) * density(0, 0) + tuning.shadowed * density(tuning.light, tuning.lightSpread))
        }
        neighbours = links.count
        deviating = links.count { $0.deviates(tuning) }
        decibels = links.map(\.decibels).sorted()[links.count / 2]
        let mayBeShadow = decibels > -tuning.largestShadow
        let still = max(usual, uncovered)
        ofMove = moved - (mayBeShadow ? max(still, covered) : still)
        ofChange = max(moved, covered) - still
        isCover = covered >= moved
    }

    /// Of a normal distribution, without the factor that all have in common; never 0.
    private static func density(_ deviation: Float, variance: Float) -> Float {
        max(1e-30, FixedMath.exp(-deviation * deviation / (2 * variance)) / variance.squareRoot())
    }
}
