import Base

/// What the neighbours of a gateway say of its place after a block.
struct PlaceEvidence: Sendable {
    let deviating: Int
    let neighbours: Int
    /// Median of the changes, dB.
    let decibels: Float
    /// How much more probable the changes are if the gateway was moved, and if something covers it, than if neither happened: natural
    /// logarithms.
    let ofMove: Float
    let ofCover: Float

    var strength: Float { max(ofMove, ofCover) }

    /// nil if there are too few neighbours to tell the gateway from them.
    init?(of links: [LinkChange], _ tuning: LevelSurveyTuning) {
        guard links.count >= tuning.leastNeighbours else { return nil }
        var (usual, moved, covered): (Float, Float, Float) = (0, 0, 0)
        for link in links {
            let density = { (mean: Float, spread: Float) in
                Self.density(link.decibels - mean, variance: link.variance + spread * spread)
            }
            usual += FixedMath.log((1 - tuning.disturbed) * density(0, 0) + tuning.disturbed * density(0, tuning.disturbance))
            moved += FixedMath.log(density(0, tuning.move))
            covered += FixedMath.log(
                (1 - tuning.shadowed) * density(0, 0) + tuning.shadowed * density(-tuning.shadow, tuning.shadowSpread))
        }
        ofMove = moved - max(usual, covered - tuning.rarityOfShadow)
        ofCover = covered - max(usual, moved)
        neighbours = links.count
        deviating = links.count { $0.deviates(tuning) }
        decibels = links.map(\.decibels).sorted()[links.count / 2]
    }

    /// Of a normal distribution, without the factor that all have in common; never 0.
    private static func density(_ deviation: Float, variance: Float) -> Float {
        max(1e-30, FixedMath.exp(-deviation * deviation / (2 * variance)) / variance.squareRoot())
    }
}

/// For how long the neighbours of a gateway have heard it otherwise.
struct PlaceCourse: Sendable {
    private var blocks = 0
    /// Blocks in a row that speak for a move, certainly and likely.
    private var blocksOfMove = 0
    private var blocksOfLikelyMove = 0
    /// Blocks in a row in which nothing was strange.
    private var quietBlocks = 0
    private var since = MonotonicInstant.zero
    private var latest: PlaceEvidence?
    private var kind: LevelSurvey.Change.Kind?

    /// Blocks after which a change is over.
    private static let mostQuiet = 5

    mutating func take(_ evidence: PlaceEvidence?, at now: MonotonicInstant, _ tuning: LevelSurveyTuning) {
        guard let evidence else {
            (quietBlocks, blocksOfMove, blocksOfLikelyMove) = (quietBlocks + 1, 0, 0)
            if kind == nil || quietBlocks >= Self.mostQuiet { self = Self() }
            return
        }
        if blocks == 0 { since = now }
        (blocks, quietBlocks, latest) = (blocks + 1, 0, evidence)
        blocksOfMove = evidence.ofMove < tuning.certain ? 0 : blocksOfMove + 1
        blocksOfLikelyMove = evidence.ofMove < tuning.likely ? 0 : blocksOfLikelyMove + 1
        if blocksOfMove >= tuning.blocksOfMove || blocksOfLikelyMove >= tuning.blocksOfLikelyMove {
            kind = .moved
        } else if kind == nil, blocks >= tuning.blocksOfCover {
            kind = .covered
        }
    }

    func change(of gateway: String) -> LevelSurvey.Change? {
        guard let kind, let latest else { return nil }
        return LevelSurvey.Change(
            gateway: gateway, kind: kind, since: since, deviating: latest.deviating, neighbours: latest.neighbours,
            decibels: latest.decibels)
    }
}
