import Rooms

extension LevelSurveyTuning {
    private static let numbers: [String: any WritableKeyPath<Self, Float> & Sendable] = [
        "deviations": \.deviations, "leastChange": \.leastChange, "disturbed": \.disturbed,
        "disturbance": \.disturbance, "move": \.move, "shadowed": \.shadowed, "shadow": \.shadow,
        "largestShadow": \.largestShadow, "shadowSpread": \.shadowSpread, "certain": \.certain,
        "certainOfChange": \.certainOfChange, "likely": \.likely, "audible": \.audible,
        "missLevel": \.missLevel, "shareOfMeasuring": \.shareOfMeasuring, "rise": \.rise,
        "light": \.light, "lightSpread": \.lightSpread,
    ]
    private static let counts: [String: any WritableKeyPath<Self, Int> & Sendable] = [
        "readyBlocks": \.readyBlocks, "mostBlocks": \.mostBlocks, "leastNeighbours": \.leastNeighbours,
        "blocksOfMove": \.blocksOfMove, "blocksOfLikelyMove": \.blocksOfLikelyMove,
        "blocksOfChange": \.blocksOfChange,
    ]

    /// Another number of the survey, by its name; ends the program if there is none of this name.
    mutating func set(_ name: String, _ value: Float) {
        if let number = Self.numbers[name] {
            self[keyPath: number] = value
        } else if let count = Self.counts[name] {
            self[keyPath: count] = Int(value)
        } else {
            fail("there is no number called \(name)")
        }
    }
}
