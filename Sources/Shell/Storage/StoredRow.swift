/// A row with its columns and a digest of them, which detects changes by a worn card.
protocol StoredRow {
    static var table: String { get }
    /// In the order of `values`; the column `digest` follows them in every table.
    static var columns: [String] { get }
    /// Made once, by `makeInsertSQL`.
    static var insertSQL: String { get }
    var values: [SQLValue] { get }
    /// - Returns: nil if the values are invalid.
    init?(values: [SQLValue])
}

extension StoredRow {
    static var columnList: String { columns.joined(separator: ", ") + ", digest" }

    /// An earlier row of the same key is replaced.
    static func makeInsertSQL() -> String {
        let places = (1...columns.count + 1).map { "?\($0)" }.joined(separator: ", ")
        return "INSERT OR REPLACE INTO \(table) (\(columnList)) VALUES (\(places))"
    }

    /// The values that an insertion binds.
    var boundValues: [SQLValue] {
        let values = values
        return values + [.integer(RowDigest.of(values))]
    }

    /// Reads the columns as `columnList` names them.
    ///
    /// - Returns: nil if the digest is wrong or the values are invalid.
    init?(_ statement: borrowing Statement) {
        var values: [SQLValue] = []
        for column in 0..<Self.columns.count { values.append(statement[column]) }
        guard statement[Self.columns.count] == .integer(RowDigest.of(values)) else { return nil }
        self.init(values: values)
    }
}

extension Database {
    func insert(_ row: some StoredRow) throws(DatabaseError) {
        try prepare(type(of: row).insertSQL).run(row.boundValues)
    }

    func insert<Row: StoredRow>(_ rows: [Row]) throws(DatabaseError) {
        guard !rows.isEmpty else { return }
        let statement = try prepare(Row.insertSQL)
        for row in rows { try statement.run(row.boundValues) }
    }

    /// Reads rows.
    ///
    /// - Parameter condition: The clauses after the table's name: `WHERE …`, `ORDER BY …`.
    /// - Throws: `DatabaseError.damaged` for a row with a wrong digest.
    func rows<Row: StoredRow>(
        _ type: Row.Type = Row.self, _ condition: String = "", _ values: SQLValue...
    ) throws(DatabaseError) -> [Row] {
        var rows: [Row] = []
        let sql = "SELECT \(Row.columnList) FROM \(Row.table) \(condition)"
        try forEachRow(sql, values) { statement throws(DatabaseError) in
            guard let row = Row(statement) else { throw .damaged("a row of \(Row.table) is not what was written") }
            rows.append(row)
            return true
        }
        return rows
    }
}
