import Base

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
        } else if kind == nil, blocks >= tuning.blocksOfChange {
            kind = evidence.isCover ? .covered : .moved
        }
    }

    func change(of gateway: String) -> LevelSurvey.Change? {
        guard let kind, let latest else { return nil }
        return LevelSurvey.Change(
            gateway: gateway, kind: kind, since: since, deviating: latest.deviating, neighbours: latest.neighbours,
            decibels: latest.decibels)
    }
}
