import Base

/// What the neighbours of a gateway say of its place after a block.
struct PlaceEvidence: Sendable {
    let deviating: Int
    let neighbours: Int
    /// Median of the changes, dB.
    let decibels: Float
    /// Whether all levels have fallen by about the same, as if something stood before the gateway.
    let isCover: Bool
    /// Sum of the changes that deviate, dB.
    let strength: Float

    /// nil if too few neighbours hear it otherwise than before.
    init?(of links: [LinkChange], _ tuning: LevelSurveyTuning) {
        let others = links.filter { $0.deviates(tuning) }
        guard others.count >= tuning.leastNeighbours, Float(others.count) >= tuning.share * Float(links.count)
        else { return nil }
        (deviating, neighbours) = (others.count, links.count)
        let changes = links.map(\.decibels).sorted()
        let median = changes[changes.count / 2]
        decibels = median
        strength = others.reduce(0) { $0 + abs($1.decibels) }
        isCover =
            median < 0 && -median <= tuning.largestCover
            && changes.allSatisfy { abs($0 - median) <= tuning.coverSpread }
    }
}

/// For how long the neighbours of a gateway have heard it otherwise.
struct PlaceCourse: Sendable {
    private var blocks = 0
    private var blocksOfMove = 0
    /// Blocks in a row in which nothing was strange.
    private var quietBlocks = 0
    private var since = MonotonicInstant.zero
    private var latest: PlaceEvidence?
    private var kind: LevelSurvey.Change.Kind?

    /// Blocks after which a change is over.
    private static let mostQuiet = 5

    mutating func take(_ evidence: PlaceEvidence?, at now: MonotonicInstant, _ tuning: LevelSurveyTuning) {
        guard let evidence else {
            (quietBlocks, blocksOfMove) = (quietBlocks + 1, 0)
            if kind == nil || quietBlocks >= Self.mostQuiet { self = Self() }
            return
        }
        if blocks == 0 { since = now }
        (blocks, quietBlocks, latest) = (blocks + 1, 0, evidence)
        blocksOfMove = evidence.isCover ? 0 : blocksOfMove + 1
        if blocksOfMove >= tuning.blocksOfMove {
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
