/// A row of a table of such entries.
protocol StampableRow: StoredRow {
    associatedtype Entry: Stampable
    var entry: Entry { get set }
    var boot: String { get }
}
