/// Selects a gateway. A gateway keeps its index, because what was learned refers to it.
struct GatewayIndex: TableIndex {
    private let value: UInt16
    init(number: Int) { value = UInt16(truncatingIfNeeded: number) }
    var number: Int { Int(value) }
}
