/// Selects a tag; its position is that in `RoomEngine.tags`.
struct TagIndex: TableIndex {
    private let value: UInt32
    init(position: Int) { value = UInt32(truncatingIfNeeded: position) }
    var position: Int { Int(value) }
}
