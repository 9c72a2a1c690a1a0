/// What one gateway hears of the beacon of another: the block that runs, and the reference.
struct LevelPair: Sendable {
    private(set) var sender: Int
    private(set) var receiver: Int
    /// Of the blocks, dBm and dB².
    private(set) var mean: Float = 0
    private(set) var variance: Float = 0
    private(set) var blocks = 0
    private var sum: Float = 0
    private var readings = 0
    /// By how much the last block differs from the reference, dB; nil: nothing is known.
    private(set) var change: Float?

    /// A block deviates by so much even where nothing happens, dB².
    private static let leastVariance: Float = 1

    init(sender: Int, receiver: Int) { (self.sender, self.receiver) = (sender, receiver) }

    init(sender: Int, receiver: Int, _ stored: LevelSurvey.StoredPair, _ tuning: LevelSurveyTuning) {
        self.init(sender: sender, receiver: receiver)
        (mean, variance, blocks) = (stored.mean, stored.variance, min(stored.blocks, tuning.mostBlocks))
    }

    var wasHeard: Bool { readings > 0 }

    func isReady(_ tuning: LevelSurveyTuning) -> Bool { blocks >= tuning.readyBlocks }

    func concerns(_ gateway: Int) -> Bool { sender == gateway || receiver == gateway }

    func renumbered(_ numbers: [Int]) -> Self {
        var pair = self
        (pair.sender, pair.receiver) = (numbers[sender], numbers[receiver])
        return pair
    }

    mutating func hear(_ level: Float) {
        sum += level
        readings += 1
    }

    mutating func forget() { self = Self(sender: sender, receiver: receiver) }

    /// Compares the block with the reference.
    ///
    /// - Parameter isSilenceKnown: Whether others heard the sender in the block, and the receiver others.
    mutating func compare(isSilenceKnown: Bool, _ tuning: LevelSurveyTuning) {
        change = nil
        guard isReady(tuning) else { return }
        if readings > 0 {
            change = sum / Float(readings) - mean
        } else if isSilenceKnown, mean > tuning.audible {
            change = tuning.missLevel - mean
        }
    }

    /// Begins another block.
    mutating func finishBlock(learns: Bool, _ tuning: LevelSurveyTuning) {
        defer { (sum, readings) = (0, 0) }
        guard learns, readings > 0 else { return }
        let level = sum / Float(readings)
        guard blocks > 0 else { return (mean, variance, blocks) = (level, 16, 1) }
        blocks = min(blocks + 1, tuning.mostBlocks)
        let share = 1 / Float(blocks)
        // One block moves the reference no further than a block usually deviates: what lasts for a while is not its place.
        let bound = isReady(tuning) ? 3 * variance.squareRoot() : .infinity
        let deviation = max(-bound, min(bound, level - mean))
        mean += share * deviation
        variance = max(Self.leastVariance, variance + share * (deviation * deviation - variance))
    }
}
