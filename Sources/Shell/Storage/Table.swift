/// A table of the schema, and the texts that follow from its columns.
struct Table<Column: ResultColumn>: Sendable, CustomStringConvertible {
    let name: String
    /// All columns. The column `digest` is the last one of every table.
    let columnList: String
    /// An earlier row of the same key is replaced.
    let insertSQL: String

    init(_ name: String) {
        self.name = name
        columnList = (Column.names + ["digest"]).joined(separator: ", ")
        let places = (1...Column.allCases.count + 1).map { "?\($0)" }.joined(separator: ", ")
        insertSQL = "INSERT OR REPLACE INTO \(name) (\(columnList)) VALUES (\(places))"
    }

    var description: String { name }
}
