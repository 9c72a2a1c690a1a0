/// A position in a `Table`. Each table has its own index type, so that the index of a tag selects no gateway.
protocol TableIndex: Strideable, Hashable, Sendable, BitwiseCopyable where Stride == Int {
    init(position: Int)
    var position: Int { get }
}

extension TableIndex {
    func distance(to other: Self) -> Int { other.position - position }
    func advanced(by count: Int) -> Self { Self(position: position + count) }
}
