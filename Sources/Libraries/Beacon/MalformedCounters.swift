/// How often each kind of malformed input occurred. A fixed block of counters, so that counting never allocates.
public struct MalformedCounters: Sendable {
    private var counts = InlineArray<8, UInt64>(repeating: 0)

    /// All counts 0.
    public init() {}

    /// Counts that were read; kinds that are not in them did not occur.
    package init(_ counts: [MalformedKind: UInt64]) {
        for (kind, count) in counts { self.counts[Int(kind.rawValue)] = count }
    }

    /// How often this kind occurred.
    public subscript(kind: MalformedKind) -> UInt64 { counts[Int(kind.rawValue)] }

    /// All kinds together.
    public var total: UInt64 {
        MalformedKind.allCases.reduce(0) { $0 + self[$1] }
    }

    /// The kinds that occurred, each with its count.
    package var byKind: [(kind: MalformedKind, count: UInt64)] {
        MalformedKind.allCases.map { ($0, self[$0]) }.filter { $0.count > 0 }
    }

    /// The number, and the kinds that occurred: `41 malformed: 40 inexact-beacon, 1 truncated-structure`.
    package var text: String {
        let kinds = byKind.map { "\($0.count) \($0.kind.name)" }.joined(separator: ", ")
        return "\(total) malformed" + (kinds.isEmpty ? "" : ": \(kinds)")
    }

    /// Adds the counts of another component.
    package mutating func add(_ other: MalformedCounters) {
        for index in counts.indices { counts[index] += other.counts[index] }
    }

    /// Not inlined, because malformed input is rare and the usual path should be short.
    @inline(never)
    package mutating func count(_ kind: MalformedKind) {
        counts[Int(kind.rawValue)] += 1
    }
}
