/// An index of a `Table`. Each table has its own index type, so that the index of a tag selects no gateway.
protocol TableIndex: Strideable, Hashable, Sendable, BitwiseCopyable where Stride == Int {
    init(number: Int)
    var number: Int { get }
}

extension TableIndex {
    func distance(to other: Self) -> Int { other.number - number }
    func advanced(by count: Int) -> Self { Self(number: number + count) }
}
