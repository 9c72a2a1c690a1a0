/// Selects the `Learner` of a tag.
struct LearnerIndex: TableIndex {
    private let value: UInt8
    init(number: Int) { value = UInt8(truncatingIfNeeded: number) }
    var number: Int { Int(value) }
}
