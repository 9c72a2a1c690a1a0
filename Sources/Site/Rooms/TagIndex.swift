/// Selects a tag; its number is the index in `RoomEngine.tags`.
struct TagIndex: TableIndex {
    private let value: UInt32
    init(number: Int) { value = UInt32(truncatingIfNeeded: number) }
    var number: Int { Int(value) }
}
