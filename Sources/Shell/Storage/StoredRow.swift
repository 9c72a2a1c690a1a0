/// A row of a table. A digest of its columns detects changes by a worn card.
///
/// `Inspection` reads every table when the file is opened, so a column that the file does not have is found then.
protocol StoredRow {
    associatedtype Column: ResultColumn
    static var table: Table<Column> { get }
    var values: Row<Column> { get }
    /// - Returns: nil if the values are invalid.
    init?(values: Row<Column>)
}

extension StoredRow {
    /// The values that an insertion binds.
    var boundValues: [SQLValue] {
        var cells = values.cells
        cells.append(.integer(RowDigest.of(cells)))
        return cells
    }

    /// Reads the columns as `Table.columnList` names them.
    ///
    /// - Returns: nil if the digest is wrong or the values are invalid.
    init?(_ statement: borrowing Statement) {
        let values = Row<Column>(statement)
        guard statement[values.cells.count] == .integer(RowDigest.of(values.cells)) else { return nil }
        self.init(values: values)
    }
}

extension Database {
    func insert(_ row: some StoredRow) throws(DatabaseError) {
        try prepare(type(of: row).table.insertSQL).run(row.boundValues)
    }

    func insert<Stored: StoredRow>(_ rows: [Stored]) throws(DatabaseError) {
        guard !rows.isEmpty else { return }
        let statement = try prepare(Stored.table.insertSQL)
        for row in rows { try statement.run(row.boundValues) }
    }

    /// Reads rows.
    ///
    /// - Parameter condition: The clauses after the table's name: `WHERE …`, `ORDER BY …`.
    /// - Throws: `DatabaseError.damaged` for a row with a wrong digest.
    func rows<Stored: StoredRow>(
        _ type: Stored.Type = Stored.self, _ condition: String = "", _ values: SQLValue...
    ) throws(DatabaseError) -> [Stored] {
        var rows: [Stored] = []
        let sql = "SELECT \(Stored.table.columnList) FROM \(Stored.table) \(condition)"
        try forEachRow(sql, values) { statement throws(DatabaseError) in
            guard let row = Stored(statement) else {
                throw .damaged("a row of \(Stored.table) is not what was written")
            }
            rows.append(row)
            return true
        }
        return rows
    }
}
