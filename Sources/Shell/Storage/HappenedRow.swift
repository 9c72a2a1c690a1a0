/// A row of a table of such entries.
protocol HappenedRow: StoredRow {
    associatedtype Entry: Happened
    var entry: Entry { get set }
    var boot: String { get }
}
