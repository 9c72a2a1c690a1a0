/// The values of one row, by column.
struct Row<Column: ResultColumn> {
    /// In the order of the columns.
    private(set) var cells: [SQLValue]

    /// The current row of a statement, whose first columns are those of `Column`.
    init(_ statement: borrowing Statement) {
        let count = Column.allCases.count
        cells = []
        cells.reserveCapacity(count)
        for index in 0..<count { cells.append(statement[index]) }
    }

    subscript(column: Column) -> SQLValue {
        get { cells[column.rawValue] }
        set { cells[column.rawValue] = newValue }
    }
}

extension Row: ExpressibleByDictionaryLiteral {
    /// Columns that are not named are NULL.
    init(dictionaryLiteral elements: (Column, SQLValue)...) {
        let count = Column.allCases.count
        cells = []
        // One more for the digest.
        cells.reserveCapacity(count + 1)
        for _ in 0..<count { cells.append(.null) }
        for (column, value) in elements { self[column] = value }
    }
}

extension Database {
    /// Calls `body` for each row until it returns false.
    ///
    /// - Throws: `DatabaseError.misnamed` if the query names its columns otherwise than `Column`.
    func forEachRow<Column: ResultColumn>(
        _ query: Query<Column>, _ values: [SQLValue] = [], _ body: (Row<Column>) throws(DatabaseError) -> Bool
    ) throws(DatabaseError) {
        let statement = try prepare(query.sql)
        guard statement.columnNames == query.names else { throw .misnamed(query.sql) }
        try statement.bind(values)
        while try statement.step() {
            guard try body(Row(statement)) else { return }
        }
    }
}
