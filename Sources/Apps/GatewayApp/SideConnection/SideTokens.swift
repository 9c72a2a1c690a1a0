/// Numbers the messages of one part.
struct SideTokens {
    private let part: SidePartName
    private var last: Int64 = 0

    init(_ part: SidePartName) { self.part = part }

    mutating func next() -> SideToken {
        last += 1
        return SideToken(part, last)
    }
}
