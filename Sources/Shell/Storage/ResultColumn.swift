import Base

/// A column of a result. Its name follows from its case: `leaveAfter` is `leave_after`. The cases stand in the order of the
/// columns, so that the compiler turns a name into an index.
protocol ResultColumn: CaseIterable, RawRepresentable<Int>, Sendable {}

extension ResultColumn {
    var name: String { separatedWords(of: "\(self)", by: "_") }

    static var names: [String] { allCases.map(\.name) }
}
