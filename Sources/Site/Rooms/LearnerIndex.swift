/// Selects the `Learner` of a tag.
struct LearnerIndex: TableIndex {
    private let value: UInt8
    init(position: Int) { value = UInt8(truncatingIfNeeded: position) }
    var position: Int { Int(value) }
}
